// Builds the deliveries of an event: one for each enabled endpoint that subscribes to it, and one for the webhook_url
// of its run when the run ends. Building is repeatable: ids and bodies depend only on the event and its run.
import type { Database } from "../db/connect.ts";
import type { EventRow } from "../db/event-log.ts";
import { listRunsWithWebhooks, type WebhookRunRow } from "../db/runs/event-runs.ts";
import type { NewDelivery } from "../db/webhooks/deliveries.ts";
import { listEnabledWebhooks, type WebhookRow } from "../db/webhooks/endpoints.ts";
import { renderEvent } from "../runs/show/render-event.ts";
import { buildDeliveryId, deliveryDestination } from "./destination.ts";
import { renderMessageBody } from "./message-body.ts";
import type { WebhookServices } from "./webhook-service.ts";

/** The webhook_url of a run receives only terminal events. */
const RUN_END_EVENTS = ["run.completed", "run.failed", "run.canceled"];

type EndpointSubscription = Pick<WebhookRow, "webhook_id" | "tenant_id" | "url" | "events">;
export type FanOutInput = { endpoints: EndpointSubscription[]; runs: WebhookRunRow[] };

/** The endpoints and runs that the deliveries of these events need. */
export async function loadFanOutInput(database: Database, events: EventRow[]): Promise<FanOutInput> {
  const tenantIds = new Set(events.map(({ tenant_id }) => tenant_id));
  const endpoints = await listEnabledWebhooks(database, [...tenantIds]);
  const runIds = [...new Set(events.map(({ run_id }) => run_id))];
  const withEndpoints = new Set(endpoints.map(({ tenant_id }) => tenant_id));
  return { endpoints, runs: await listRunsWithWebhooks(database, runIds, [...withEndpoints]) };
}

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
