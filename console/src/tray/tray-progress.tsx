// The second line of a run in the tray: its place in the queue, its progress, or how it ended and what it cost.
import { useQuery } from "@tanstack/react-query";
import { runQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import styles from "./tray.module.css";
import type { TrayRun } from "./tray-runs.ts";

const POSITION_INTERVAL_MS = 5000;

export function TrayProgress({ run }: { run: TrayRun }) {
  const isQueued = run.status === "queued" && !run.isStarting;
  // The place in the queue is no event: other runs change it.
  const { data } = useQuery({ ...runQuery(run.run_id), enabled: isQueued, refetchInterval: POSITION_INTERVAL_MS });
  if (run.status === "processing") {
    return (
      <span className={styles.line}>
        <span className="numeric">{Math.round(run.progress * 100)} %</span>
        <ProgressLine value={run.progress} label={run.prompt ?? text.run.noPrompt} />
      </span>
    );
  }
  const place = isQueued && data?.queue_position ? text.run.queuedAt(data.queue_position) : undefined;
  return (
    <span className={styles.line}>
      {place ?? <RunState status={run.status} />}
      {run.amount !== null && <span className="numeric">· {formatMoney(run.amount)}</span>}
    </span>
  );
}
