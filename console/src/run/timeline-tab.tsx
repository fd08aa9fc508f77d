// The timeline of a run, where its time went, and what it cost.
import type { Run, RunLedger, WebhookDelivery } from "@gesso/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { runLedgerQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import { phasesOf } from "./phases.ts";
import { runEventsQuery } from "./run-events.ts";
import styles from "./timeline.module.css";
import { timelineOf } from "./timeline.ts";
import { TimelineRow } from "./timeline-row.tsx";
import phaseStyles from "./timeline-tab.module.css";

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

const phaseWords = text.runPage.phases;

/** The time of a run as one bar with three parts, and their lengths in words. */
function PhaseBar({ run }: { run: Run }) {
  const phases = phasesOf(run);
  if (phases.length === 0 || !run.finished_at) return null;
  const total = formatDuration(millisecondsBetween(run.created_at, run.finished_at));
  return (
    <section className={phaseStyles.phases} aria-label={phaseWords.label(total)}>
      <div className={phaseStyles.bar} aria-hidden="true">
        {phases.map(({ name, milliseconds }) => (
          <span key={name} className={phaseStyles[name]} ref={cssVariables({ "--part": String(milliseconds) })} />
        ))}
      </div>
      <dl className={phaseStyles.legend}>
        {phases.map(({ name, milliseconds }) => (
          <div key={name} data-milliseconds={milliseconds}>
            <dt>
              <span className={phaseStyles[name]} aria-hidden="true" />
              {phaseWords[name]}
            </dt>
            <dd>{formatDuration(milliseconds)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const costWords = text.runPage.costs;

/** What a run reserved, got back and was charged, and what the installation bears. */
function RunCosts({ ledger }: { ledger: RunLedger }) {
  const lines: [label: string, amount: number][] = [
    [costWords.reserved, ledger.reserved],
    [costWords.released, ledger.released],
  ];
  if (ledger.wasted > 0) lines.push([costWords.wasted, ledger.wasted]);
  return (
    <dl className={styles.costs}>
      {lines.map(([label, amount]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{formatMoney(amount)}</dd>
        </div>
      ))}
      <div className={styles.sum}>
        <dt>{costWords.thisRun}</dt>
        <dd>{formatMoney(ledger.charged)}</dd>
      </div>
    </dl>
  );
}

const READ_AGAIN_MS = 3000;

/** The deliveries of a run's webhooks. They are read again while one of them waits for its next attempt. */
const runDeliveriesQuery = ({ run_id, status }: Pick<Run, "run_id" | "status">) =>
  queryOptions({
    queryKey: ["runs", run_id, "deliveries", status],
    queryFn: async (): Promise<WebhookDelivery[]> => {
      const { data } = await client.webhooks.deliveries.list({ run_id, limit: 100 });
      return data.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
    },
    refetchInterval: ({ state }) => (state.data?.some(isWaiting) ? READ_AGAIN_MS : false),
  });

const isWaiting = ({ status }: WebhookDelivery) => status === "pending";
