// Fan-out: reads the event log and inserts one delivery per subscribed endpoint. Deliveries and the log cursor are written in one
// transaction, so a crash loses and duplicates nothing, and only one of several concurrent readers succeeds.
import { type EventRow, listEventsAfter } from "../db/event-log.ts";
import type { RunRow } from "../db/runs/runs.ts";
import type { NewDelivery } from "../db/webhooks/deliveries.ts";
import { listEnabledWebhooks, type WebhookRow } from "../db/webhooks/endpoints.ts";
import { commitFanOut, listProgressTimes, listRunsWithWebhooks, readFanOutCursor } from "../db/webhooks/fan-out.ts";
import { renderEvent } from "../runs/render-event.ts";
import { buildDeliveryId, deliveryDestination } from "./destination.ts";
import { renderMessageBody } from "./message-body.ts";
import { disableAfterSeconds, type Office } from "./webhook-service.ts";

const BATCH = 500;
/** The progress of a run is told at most this often. */
const PROGRESS_MS = 2_000;
/** What the address of a run is told: how it ended, and nothing else. */
const RUN_END_EVENTS = ["run.completed", "run.failed", "run.canceled"];

/** How many events were read; undefined where another process has read them meanwhile. */
export async function fanOut(office: Office): Promise<number | undefined> {
  const from = await readFanOutCursor(office.db);
  const events = await listEventsAfter(office.db, from, BATCH);
  const last = events.at(-1);
  if (!last) return 0;
  const hooks = await listEnabledWebhooks(office.db, [...new Set(events.map(({ tenant_id }) => tenant_id))]);
  const runs = await listRunsWithWebhooks(office.db, runIdsOf(events), [
    ...new Set(hooks.map(({ tenant_id }) => tenant_id)),
  ]);
  const { kept, progressSent } = await throttleProgress(office, events);
  const deliveries = kept.flatMap((event) => buildDeliveries(office, event, { hooks, runs }));
  const written = await commitFanOut(office.db, {
    ...{ from, to: last, deliveries, progressSent },
    ended: events.filter(({ terminal }) => terminal).map(({ run_id }) => run_id),
    givesUpSeconds: disableAfterSeconds(office),
  });
  return written === undefined ? undefined : events.length;
}

const runIdsOf = (events: EventRow[]) => [...new Set(events.map(({ run_id }) => run_id))];

/** Progress comes as often as providers say something; receivers hear of a run's progress every two seconds at most. */
async function throttleProgress({ db }: Office, events: EventRow[]) {
  const ofProgress = events.filter(({ type }) => type === "run.progress");
  const last = await listProgressTimes(db, runIdsOf(ofProgress));
  const isTold = (event: EventRow) => {
    const before = last.get(event.run_id)?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (event.created_at.getTime() - before < PROGRESS_MS) return false;
    last.set(event.run_id, event.created_at);
    return true;
  };
  const kept = events.filter((event) => event.type !== "run.progress" || isTold(event));
  const news = new Set(kept.filter(({ type }) => type === "run.progress").map(({ run_id }) => run_id));
  return { kept, progressSent: [...news].map((run_id) => ({ run_id, sent_at: last.get(run_id)! })) };
}

type EndpointSubscription = Pick<WebhookRow, "webhook_id" | "tenant_id" | "url" | "events">;
type FanOutInput = { hooks: EndpointSubscription[]; runs: RunRow[] };

export function buildDeliveries(
  office: Pick<Office, "assetUrl">,
  event: EventRow,
  { hooks, runs }: FanOutInput,
): NewDelivery[] {
  const isOfRun = event.run_id !== event.event_id;
  const run = runs.find(({ run_id }) => run_id === event.run_id);
  if (isOfRun && !run) return [];
  const wanted = hooks.filter(({ tenant_id, events }) => tenant_id === event.tenant_id && events.includes(event.type));
  const addresses: { webhook_id: string | null; url: string }[] = [
    ...(run?.webhook_url && RUN_END_EVENTS.includes(event.type) ? [{ webhook_id: null, url: run.webhook_url }] : []),
    ...wanted,
  ];
  if (addresses.length === 0) return [];
  const body = renderMessageBody(renderEvent(office, event, run));
  const { tenant_id, event_id, type } = event;
  return addresses.map(({ webhook_id, url }) => ({
    ...{ tenant_id, event_id, type, webhook_id, url, body },
    ...deliveryDestination({ tenant_id, webhook_id, url }),
    delivery_id: buildDeliveryId(event_id, webhook_id),
    run_id: isOfRun ? event.run_id : null,
  }));
}
