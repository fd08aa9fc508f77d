// Listeners of the caller's tenant (`gesso webhooks listen`). A listener reads the event stream and requests each
// message here: the same bytes under the same id as a webhook endpoint receives, signed with the listener's own secret.
// The result of forwarding is recorded as a delivery.
import { assertNotAccessToken } from "../access/delegation.ts";
import type { RequestContext } from "../access/request-context.ts";
import type { Database } from "../db/connect.ts";
import { type EventRow, formatPosition, parsePosition, readLogHead } from "../db/event-log.ts";
import { findDelivery } from "../db/webhooks/deliveries.ts";
import { listRunsWithWebhooks } from "../db/webhooks/fan-out.ts";
import {
  type ForwardedDelivery,
  findEventAt,
  findListener,
  insertListener,
  type ListenerRow,
  recordForward,
} from "../db/webhooks/listeners.ts";
import { Fault } from "../faults.ts";
import type { ListenerStore } from "../kit/listener-store.ts";
import { buildDeliveries } from "./build-deliveries.ts";
import { renderDelivery } from "./delivery-store.ts";
import { buildDeliveryId } from "./destination.ts";
import { LISTENER_TRIGGER_EVENT, type ListenerTrigger, listenerUrl, triggerListeners } from "./listener-trigger.ts";
import { buildMessageHeaders } from "./message-headers.ts";
import { renderSampleBody } from "./sample-message.ts";
import { findSigningSecrets, generateWebhookSecret } from "./signing-secrets.ts";
import type { WebhookServices } from "./webhook-service.ts";

export type ListenerDependencies = Pick<WebhookServices, "assets" | "secretCipher" | "signingKeys" | "ids" | "clock">;

export function createListenerStore(services: ListenerDependencies, context: RequestContext): ListenerStore {
  const { secretCipher, ids } = services;
  const { database, caller } = context;
  const { tenant_id } = caller;
  return {
    async create({ name, secret: given }) {
      assertNotAccessToken(caller);
      const [listener_id, secret] = [ids.next(), given ?? generateWebhookSecret()];
      const encrypted = secretCipher.encrypt({ tenant_id, owner_id: listener_id, secret_id: ids.next() }, secret);
      const row = await insertListener(database, caller, { listener_id, name, secret: encrypted });
      return {
        ...{ id: listener_id, name, url: listenerUrl(name), secret: given === undefined ? secret : null },
        after: formatPosition(await readLogHead(database)),
        created_at: row.created_at.toISOString(),
      };
    },
    async message(id, place) {
      const listener = await requireListener(context, id);
      const message = await buildListenerMessage(services, context, listener, place);
      const { delivery_id, event_id, type, run_id, body } = message;
      const attempt = ((await findDelivery(database, tenant_id, delivery_id))?.attempts ?? 0) + 1;
      const secrets = await findSigningSecrets({ ...services, database }, { tenant_id, webhook_id: id, run_id: null });
      const headers = buildMessageHeaders(services, secrets, { tenant_id, event_id, body, attempt });
      return { delivery_id, event_id: `evt_${event_id}`, type, run_id, attempt, body, headers };
    },
    async report(id, { place, started_at, ...attempt }) {
      const message = await buildListenerMessage(services, context, await requireListener(context, id), place);
      const isDelivered = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
      const row = await recordForward(database, message, isDelivered ? "delivered" : "exhausted", {
        ...attempt,
        response: attempt.response?.replaceAll("\0", "").toWellFormed() ?? null,
        started_at: new Date(started_at),
      });
      return renderDelivery(row);
    },
    async trigger({ type, metadata }) {
      const { event_id, created_at } = await triggerListeners(ids, context, { type, ...(metadata && { metadata }) });
      return { event_id: `evt_${event_id}`, type, created_at: created_at.toISOString() };
    },
  };
}

async function requireListener({ database, caller }: RequestContext, id: string): Promise<ListenerRow> {
  const row = await findListener(database, caller.tenant_id, id);
  if (!row) throw new Fault("route_not_found");
  return row;
}

type ListenerMessage = ForwardedDelivery & { body: string };

async function buildListenerMessage(
  services: ListenerDependencies,
  { database }: RequestContext,
  listener: ListenerRow,
  place: string,
): Promise<ListenerMessage> {
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
