// Listeners of the caller's tenant (`gesso webhooks listen`). A listener reads the event stream and requests each
// message here: the same bytes under the same id as a webhook endpoint receives, signed with the listener's own secret.
// The result of forwarding is recorded as a delivery.
import type { RequestContext } from "../access/request-context.ts";
import type { Database } from "../db/connect.ts";
import { type EventRow, parsePosition } from "../db/event-log.ts";
import { listRunsWithWebhooks } from "../db/runs/event-runs.ts";
import { findDelivery } from "../db/webhooks/deliveries.ts";
import { type ForwardedDelivery, findEventAt, findListener, type ListenerRow } from "../db/webhooks/listeners.ts";
import { Fault } from "../faults/faults.ts";
import { buildDeliveries } from "./build-deliveries.ts";
import { buildDeliveryId } from "./destination.ts";
import { LISTENER_TRIGGER_EVENT, type ListenerTrigger, listenerUrl } from "./listener-trigger.ts";
import { renderSampleBody } from "./sample-message.ts";
import type { WebhookServices } from "./webhook-service.ts";

export type ListenerDependencies = Pick<WebhookServices, "assets">;

async function requireListener({ database, caller }: RequestContext, id: string): Promise<ListenerRow> {
  const row = await findListener(database, caller.tenant_id, id);
  if (!row) throw new Fault("route_not_found");
  return row;
}

type ListenerMessage = ForwardedDelivery & { body: string };

export async function buildListenerMessage(
  services: ListenerDependencies,
  request: RequestContext,
  listenerId: string,
  place: string,
): Promise<ListenerMessage> {
  const { database } = request;
  const listener = await requireListener(request, listenerId);
  const position = parsePosition(place);
  const event = position && (await findEventAt(database, listener.tenant_id, position));
  if (!event) throw new Fault("route_not_found");
  const trigger = event.type === LISTENER_TRIGGER_EVENT ? (event.data as ListenerTrigger) : undefined;
  if (!trigger) return buildEventMessage(services, database, listener, event);
  return "delivery_id" in trigger
    ? rebuildStoredMessage(database, listener, trigger.delivery_id)
    : buildSampleMessage(listener, event, trigger);
}

/** The message that webhook endpoints receive for this event. */
async function buildEventMessage(
  services: ListenerDependencies,
  database: Database,
  { listener_id, tenant_id, name }: ListenerRow,
  event: EventRow,
): Promise<ListenerMessage> {
  const runs = await listRunsWithWebhooks(database, [event.run_id], [tenant_id]);
  const endpoint = { webhook_id: listener_id, tenant_id, url: listenerUrl(name), events: [event.type] };
  const messages = buildDeliveries(services, event, { endpoints: [endpoint], runs });
  const message = messages.find(({ webhook_id }) => webhook_id === listener_id);
  if (message?.body == null) throw new Fault("run_deleted");
  return { ...message, body: message.body };
}

const deliveryTo = ({ listener_id, tenant_id, name }: ListenerRow, event_id: string) => ({
  ...{ tenant_id, event_id, webhook_id: listener_id, url: listenerUrl(name) },
  delivery_id: buildDeliveryId(event_id, listener_id),
});

/** Deterministic: the sample is built from the event alone. */
function buildSampleMessage(
  listener: ListenerRow,
  { event_id, created_at }: EventRow,
  { type, metadata }: Exclude<ListenerTrigger, { delivery_id: string }>,
): ListenerMessage {
  const body = renderSampleBody(type, { webhook_id: listener.listener_id, now: created_at, metadata });
  return { ...deliveryTo(listener, event_id), type, body, run_id: null };
}

/** A redelivery goes to the listener that asks now, which may be another one than the first time. */
async function rebuildStoredMessage(database: Database, listener: ListenerRow, id: string): Promise<ListenerMessage> {
  const row = await findDelivery(database, listener.tenant_id, id);
  if (row?.body == null) throw new Fault("run_deleted");
  const { event_id, type, run_id, body } = row;
  return { ...deliveryTo(listener, event_id), type, run_id, body };
}
