// Listeners in the name of one caller. A listener reads the stream of events and asks here for each message: the same bytes
// under the same id as a webhook gets, signed with the listener's own secret. What came of it is in the log of deliveries.
import { assertNotAccessToken } from "../access/delegation.ts";
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
import { renderDelivery } from "./delivery-store.ts";
import { buildDeliveryId } from "./destination.ts";
import { buildDeliveries } from "./fan-out.ts";
import { LISTENER_TRIGGER_EVENT, type ListenerTrigger, listenerUrl, triggerListeners } from "./listener-trigger.ts";
import { buildMessageHeaders } from "./message-headers.ts";
import { renderSampleBody } from "./sample-message.ts";
import { findSigningSecrets, generateWebhookSecret } from "./signing-secrets.ts";
import type { Counter } from "./webhook-request-context.ts";

export function createListenerStore(counter: Counter): ListenerStore {
  const { db, caller, secretCipher: vault, newId } = counter;
  const { tenant_id } = caller;
  return {
    async create({ name, secret: given }) {
      assertNotAccessToken(caller);
      const [listener_id, secret] = [newId(), given ?? generateWebhookSecret()];
      const sealed = vault.encrypt({ tenant_id, owner_id: listener_id, secret_id: newId() }, secret);
      const row = await insertListener(db, caller, { listener_id, name, secret: sealed });
      return {
        ...{ id: listener_id, name, url: listenerUrl(name), secret: given === undefined ? secret : null },
        after: formatPosition(await readLogHead(db)),
        created_at: row.created_at.toISOString(),
      };
    },
    async message(id, place) {
      const { delivery_id, event_id, type, run_id, body } = await buildListenerMessage(
        counter,
        await findOwnListener(counter, id),
        place,
      );
      const attempt = ((await findDelivery(db, tenant_id, delivery_id))?.attempts ?? 0) + 1;
      const secrets = await findSigningSecrets(counter, { tenant_id, webhook_id: id, run_id: null });
      const headers = buildMessageHeaders(counter, secrets, { tenant_id, event_id, body, attempt });
      return { delivery_id, event_id: `evt_${event_id}`, type, run_id, attempt, body, headers };
    },
    async report(id, { place, started_at, ...attempt }) {
      const message = await buildListenerMessage(counter, await findOwnListener(counter, id), place);
      const hasArrived = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
      const row = await recordForward(db, message, hasArrived ? "delivered" : "exhausted", {
        ...attempt,
        response: attempt.response?.replaceAll("\0", "").toWellFormed() ?? null,
        started_at: new Date(started_at),
      });
      return renderDelivery(row);
    },
    async trigger({ type, metadata }) {
      const { event_id, created_at } = await triggerListeners(counter, { type, ...(metadata && { metadata }) });
      return { event_id: `evt_${event_id}`, type, created_at: created_at.toISOString() };
    },
  };
}

async function findOwnListener({ db, caller }: Counter, id: string): Promise<ListenerRow> {
  const row = await findListener(db, caller.tenant_id, id);
  if (!row) throw new Fault("route_not_found");
  return row;
}

type ListenerMessage = ForwardedDelivery & { body: string };

async function buildListenerMessage(counter: Counter, listener: ListenerRow, place: string): Promise<ListenerMessage> {
  const position = parsePosition(place);
  const event = position && (await findEventAt(counter.db, listener.tenant_id, position));
  if (!event) throw new Fault("route_not_found");
  const called = event.type === LISTENER_TRIGGER_EVENT ? (event.data as ListenerTrigger) : undefined;
  if (!called) return buildEventMessage(counter, listener, event);
  return "delivery_id" in called
    ? rebuildStoredMessage(counter, listener, called.delivery_id)
    : buildSampleMessage(listener, event, called);
}

/** As everybody else is told it. */
async function buildEventMessage(counter: Counter, listener: ListenerRow, event: EventRow): Promise<ListenerMessage> {
  const { listener_id, tenant_id, name } = listener;
  const runs = await listRunsWithWebhooks(counter.db, [event.run_id], [tenant_id]);
  const hook = { webhook_id: listener_id, tenant_id, url: listenerUrl(name), events: [event.type] };
  const messages = buildDeliveries(counter, event, { hooks: [hook], runs });
  const message = messages.find(({ webhook_id }) => webhook_id === listener_id);
  if (message?.body == null) throw new Fault("run_deleted");
  return { ...message, body: message.body };
}

const addressed = ({ listener_id, tenant_id, name }: ListenerRow, event_id: string) => ({
  ...{ tenant_id, event_id, webhook_id: listener_id, url: listenerUrl(name) },
  delivery_id: buildDeliveryId(event_id, listener_id),
});

/** Made anew each time, and always the same: all of it stands in the event. */
function buildSampleMessage(
  listener: ListenerRow,
  { event_id, created_at }: EventRow,
  { type, metadata }: Exclude<ListenerTrigger, { delivery_id: string }>,
): ListenerMessage {
  const body = renderSampleBody(type, { webhook_id: listener.listener_id, now: created_at, metadata });
  return { ...addressed(listener, event_id), type, body, run_id: null };
}

/** To whoever listens now; the one that passed it on the first time may be gone. */
async function rebuildStoredMessage({ db }: Counter, listener: ListenerRow, id: string): Promise<ListenerMessage> {
  const row = await findDelivery(db, listener.tenant_id, id);
  if (row?.body == null) throw new Fault("run_deleted");
  const { event_id, type, run_id, body } = row;
  return { ...addressed(listener, event_id), type, run_id, body };
}
