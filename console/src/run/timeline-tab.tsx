// The timeline of a run and what it cost.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { runLedgerQuery } from "../api/queries.ts";
import { RunCosts } from "./run-costs.tsx";
import styles from "./timeline.module.css";
import { timelineOf } from "./timeline.ts";
import { TimelineRow } from "./timeline-row.tsx";

export function TimelineTab({ run }: { run: Run }) {
  const { data: ledger } = useQuery({ ...runLedgerQuery(run.run_id), enabled: run.finished_at !== null });
  return (
    <>
      <ol className={styles.timeline}>
        {timelineOf(run, ledger).map((entry) => (
          <TimelineRow
            key={`${entry.kind} ${entry.attempt?.job} ${entry.attempt?.try}`}
            entry={entry}
            createdAt={run.created_at}
            status={run.status}
          />
        ))}
      </ol>
      {ledger && <RunCosts ledger={ledger} />}
    </>
  );
}
