// Fan-out: reads the event log and inserts one delivery per subscribed endpoint. Deliveries and the log cursor are
// written in one transaction, so a crash loses and duplicates nothing, and only one of several concurrent readers
// succeeds.
import { type EventRow, listEventsAfter } from "../db/event-log.ts";
import type { RunRow } from "../db/runs/runs.ts";
import type { NewDelivery } from "../db/webhooks/deliveries.ts";
import { listEnabledWebhooks, type WebhookRow } from "../db/webhooks/endpoints.ts";
import { commitFanOut, listProgressTimes, listRunsWithWebhooks, readFanOutCursor } from "../db/webhooks/fan-out.ts";
import { renderEvent } from "../runs/render-event.ts";
import { buildDeliveryId, deliveryDestination } from "./destination.ts";
import { renderMessageBody } from "./message-body.ts";
import { disableAfterSeconds, type WebhookServices } from "./webhook-service.ts";

const BATCH = 500;
/** Minimum time between two progress messages of a run. */
const PROGRESS_INTERVAL_MS = 2_000;
/** The webhook_url of a run receives only terminal events. */
const RUN_END_EVENTS = ["run.completed", "run.failed", "run.canceled"];

type Dependencies = Pick<WebhookServices, "database" | "assets" | "webhookSettings">;

/** Returns the number of events read, or undefined if another process has read them meanwhile. */
export async function fanOut(services: Dependencies): Promise<number | undefined> {
  const from = await readFanOutCursor(services.database);
  const events = await listEventsAfter(services.database, from, BATCH);
  const last = events.at(-1);
  if (!last) return 0;
  const endpoints = await listEnabledWebhooks(services.database, [
    ...new Set(events.map(({ tenant_id }) => tenant_id)),
  ]);
  const runs = await listRunsWithWebhooks(services.database, runIdsOf(events), [
    ...new Set(endpoints.map(({ tenant_id }) => tenant_id)),
  ]);
  const { sentEvents, progressSent } = await throttleProgress(services, events);
  const deliveries = sentEvents.flatMap((event) => buildDeliveries(services, event, { endpoints, runs }));
  const committed = await commitFanOut(services.database, {
    ...{ from, to: last, deliveries, progressSent },
    ended: events.filter(({ terminal }) => terminal).map(({ run_id }) => run_id),
    givesUpSeconds: disableAfterSeconds(services),
  });
  return committed === undefined ? undefined : events.length;
}

const runIdsOf = (events: EventRow[]) => [...new Set(events.map(({ run_id }) => run_id))];

/** Drops progress events that follow the last sent one of their run within two seconds. */
async function throttleProgress({ database }: Dependencies, events: EventRow[]) {
  const isProgress = ({ type }: EventRow) => type === "run.progress";
  const lastSent = await listProgressTimes(database, runIdsOf(events.filter(isProgress)));
  const isDue = (event: EventRow) => {
    const before = lastSent.get(event.run_id)?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (event.created_at.getTime() - before < PROGRESS_INTERVAL_MS) return false;
    lastSent.set(event.run_id, event.created_at);
    return true;
  };
  const sentEvents = events.filter((event) => !isProgress(event) || isDue(event));
  const progressRuns = runIdsOf(sentEvents.filter(isProgress));
  return { sentEvents, progressSent: progressRuns.map((run_id) => ({ run_id, sent_at: lastSent.get(run_id)! })) };
}

type EndpointSubscription = Pick<WebhookRow, "webhook_id" | "tenant_id" | "url" | "events">;
type FanOutInput = { endpoints: EndpointSubscription[]; runs: RunRow[] };

export function buildDeliveries(
  services: Pick<WebhookServices, "assets">,
  event: EventRow,
  { endpoints, runs }: FanOutInput,
): NewDelivery[] {
  const isOfRun = event.run_id !== event.event_id;
  const run = runs.find(({ run_id }) => run_id === event.run_id);
  if (isOfRun && !run) return [];
  const subscribed = endpoints.filter(
    ({ tenant_id, events }) => tenant_id === event.tenant_id && events.includes(event.type),
  );
  const targets: { webhook_id: string | null; url: string }[] = [
    ...(run?.webhook_url && RUN_END_EVENTS.includes(event.type) ? [{ webhook_id: null, url: run.webhook_url }] : []),
    ...subscribed,
  ];
  if (targets.length === 0) return [];
  const body = renderMessageBody(renderEvent(services, event, run));
  const { tenant_id, event_id, type } = event;
  return targets.map(({ webhook_id, url }) => ({
    ...{ tenant_id, event_id, type, webhook_id, url, body },
    ...deliveryDestination({ tenant_id, webhook_id, url }),
    delivery_id: buildDeliveryId(event_id, webhook_id),
    run_id: isOfRun ? event.run_id : null,
  }));
}
