// The timeline of a run, where its time went, and what it cost.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { runLedgerQuery } from "../api/queries.ts";
import { PhaseBar } from "./phase-bar.tsx";
import { RunCosts } from "./run-costs.tsx";
import { runDeliveriesQuery } from "./run-deliveries.ts";
import { runEventsQuery } from "./run-events.ts";
import styles from "./timeline.module.css";
import { timelineOf } from "./timeline.ts";
import { TimelineRow } from "./timeline-row.tsx";

export function TimelineTab({ run }: { run: Run }) {
  const { data: ledger } = useQuery({ ...runLedgerQuery(run.run_id), enabled: run.finished_at !== null });
  const { data: events } = useQuery(runEventsQuery(run));
  const { data: deliveries } = useQuery(runDeliveriesQuery(run));
  return (
    <>
      <PhaseBar run={run} />
      <ol className={styles.timeline}>
        {timelineOf(run, { ledger, events, deliveries }).map((entry) => (
          <TimelineRow key={entry.key} entry={entry} run={run} reserved={ledger?.reserved} />
        ))}
      </ol>
      {ledger && <RunCosts ledger={ledger} />}
    </>
  );
}
