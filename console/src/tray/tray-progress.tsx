// The second line of a run in the tray: its place in the queue, its progress, or how it ended and what it cost.
import { useQuery } from "@tanstack/react-query";
import { runQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { formatDuration } from "../format/time.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import styles from "./tray.module.css";
import { isOpen, type TrayRun } from "./tray-runs.ts";

const POSITION_INTERVAL_MS = 3000;

export function TrayProgress({ run }: { run: TrayRun }) {
  if (run.isStarting) return <span className={styles.line}>{text.tray.starting}</span>;
  if (run.status === "queued") return <QueuePlace runId={run.run_id} />;
  if (run.status === "processing") {
    return (
      <span className={styles.line}>
        <span className={styles.percent}>{Math.round(run.progress * 100)} %</span>
        <ProgressLine value={run.progress} label={run.prompt ?? text.run.noPrompt} />
      </span>
    );
  }
  return (
    <span className={styles.line}>
      <RunState status={run.status} />
      <span className="numeric">{costOf(run)}</span>
    </span>
  );
}

function costOf(run: TrayRun): string {
  if (isOpen(run)) return "";
  if (run.amount === undefined) return "";
  if (run.amount !== null) return `· ${formatMoney(run.amount)}`;
  return `· ${run.status === "completed" ? text.tray.costUnknown : text.tray.notCharged}`;
}

function QueuePlace({ runId }: { runId: string }) {
  // The place in the queue is no event: other runs change it.
  const { data } = useQuery({ ...runQuery(runId), refetchInterval: POSITION_INTERVAL_MS, staleTime: 0 });
  const starts = data?.estimated_start_at;
  const wait = starts ? Math.max(0, Date.parse(starts) - Date.now()) : undefined;
  if (!data?.queue_position) return <RunStateLine />;
  return (
    <span className={styles.line}>
      {text.run.queuedAt(data.queue_position)}
      {wait !== undefined && <span>· {text.run.startsIn(formatDuration(wait))}</span>}
    </span>
  );
}

const RunStateLine = () => (
  <span className={styles.line}>
    <RunState status="queued" />
  </span>
);
