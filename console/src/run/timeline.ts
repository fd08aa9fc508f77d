// What happened to a run, in order: accepted, waited, progress, each attempt, the end, and the deliveries of its
// webhooks. Every event of the run's log stands in exactly one entry.
import type { Attempt, Run, RunEvent, RunLedger, WebhookDelivery } from "@gesso/client";

export type TimelineEntry = {
  kind: "accepted" | "waited" | "progress" | "attempt" | "ended" | "delivery";
  key: string;
  /** Milliseconds from the acceptance to the end of this entry; null while it goes on. */
  at: number | null;
  /** The event of the log that this entry shows. */
  event?: RunEvent;
  attempt?: Attempt & { price: number | null };
  delivery?: WebhookDelivery;
  /** Length of a wait in milliseconds. */
  duration?: number;
};

export type TimelineRun = Pick<Run, "created_at" | "started_at" | "finished_at" | "attempts">;
export type TimelineSources = {
  ledger?: Pick<RunLedger, "attempts"> | undefined;
  events?: readonly RunEvent[] | undefined;
  deliveries?: readonly WebhookDelivery[] | undefined;
};

const END_EVENTS = /^run\.(completed|failed|canceled)$/;

export function timelineOf(run: TimelineRun, { ledger, events = [], deliveries = [] }: TimelineSources) {
  const left = [...events];
  const take = (isWanted: (event: RunEvent) => boolean) => {
    const index = left.findIndex(isWanted);
    const [event] = index < 0 ? [] : left.splice(index, 1);
    return event && { event };
  };
  const since = (iso: string) => Date.parse(iso) - Date.parse(run.created_at);

  const first: TimelineEntry = {
    kind: "accepted",
    key: "accepted",
    at: 0,
    ...take(({ type }) => type === "run.queued"),
  };
  const waited: TimelineEntry[] = run.started_at
    ? [
        {
          kind: "waited",
          key: "waited",
          at: since(run.started_at),
          duration: since(run.started_at),
          ...take(({ type }) => type === "run.processing"),
        },
      ]
    : [];
  const ended: TimelineEntry[] = run.finished_at
    ? [{ kind: "ended", key: "ended", at: since(run.finished_at), ...take(({ type }) => END_EVENTS.test(type)) }]
    : [];
  const between = [
    ...attemptsOf(run, ledger).map((entry) => ({ from: since(entry.attempt!.created_at), entry })),
    ...left.map((event) => ({ from: since(event.timestamp), entry: progressOf(event, since(event.timestamp)) })),
  ].sort((a, b) => a.from - b.from);
  return [first, ...waited, ...between.map(({ entry }) => entry), ...ended, ...deliveries.map(deliveryOf(since))];
}

function attemptsOf(run: TimelineRun, ledger: TimelineSources["ledger"]): TimelineEntry[] {
  return (run.attempts ?? []).map((attempt) => {
    const priced = ledger?.attempts.find((each) => each.job === attempt.job && each.try === attempt.try);
    return {
      kind: "attempt",
      key: `attempt ${attempt.job} ${attempt.try}`,
      at: attempt.finished_at ? Date.parse(attempt.finished_at) - Date.parse(run.created_at) : null,
      attempt: { ...attempt, state: shownState(attempt), price: priced?.price ?? null },
    };
  });
}

/** The API closes an attempt without a known outcome as failed, with a code of its own. */
const shownState = ({ state, error }: Attempt) => (error?.code === "provider_outcome_unknown" ? "unknown" : state);

const progressOf = (event: RunEvent, at: number): TimelineEntry => ({
  kind: "progress",
  key: event.event_id,
  at,
  event,
});

const deliveryOf =
  (since: (iso: string) => number) =>
  (delivery: WebhookDelivery): TimelineEntry => ({
    kind: "delivery",
    key: delivery.id,
    at: delivery.finished_at ? since(delivery.finished_at) : null,
    delivery,
  });
