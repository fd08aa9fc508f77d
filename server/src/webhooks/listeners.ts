// Listeners in the name of one caller. A listener reads the stream of events and asks here for each message: the same bytes
// under the same id as a webhook gets, signed with the listener's own secret. What came of it is in the log of deliveries.
import { refuseTokens } from "../access/rights.ts";
import { type EventRow, headOf, printPosition, readPosition } from "../db/events.ts";
import { findDelivery } from "../db/webhook-deliveries.ts";
import { runsToTell } from "../db/webhook-fan-out.ts";
import {
  createListener,
  eventAt,
  type Forwarded,
  findListener,
  type ListenerRow,
  noteForward,
} from "../db/webhook-listeners.ts";
import { Fault } from "../faults.ts";
import type { WebhookListeners } from "../kit/listeners.ts";
import type { Counter } from "./counter.ts";
import { messagesOf } from "./fan-out.ts";
import { headersOf } from "./headers.ts";
import { CALL, type Called, call, urlOf } from "./listener-call.ts";
import { showDelivery } from "./log.ts";
import { deliveryId } from "./route.ts";
import { sampleBody } from "./sample.ts";
import { newSecret, secretsFor } from "./secrets.ts";

export function listenersOf(counter: Counter): WebhookListeners {
  const { db, caller, vault, newId } = counter;
  const { tenant_id } = caller;
  return {
    async create({ name, secret: given }) {
      refuseTokens(caller);
      const [listener_id, secret] = [newId(), given ?? newSecret()];
      const sealed = vault.seal({ tenant_id, owner_id: listener_id, secret_id: newId() }, secret);
      const row = await createListener(db, caller, { listener_id, name, secret: sealed });
      return {
        ...{ id: listener_id, name, url: urlOf(name), secret: given === undefined ? secret : null },
        after: printPosition(await headOf(db)),
        created_at: row.created_at.toISOString(),
      };
    },
    async message(id, place) {
      const { delivery_id, event_id, type, run_id, body } = await messageFor(counter, await own(counter, id), place);
      const attempt = ((await findDelivery(db, tenant_id, delivery_id))?.attempts ?? 0) + 1;
      const secrets = await secretsFor(counter, { tenant_id, webhook_id: id, run_id: null });
      const headers = headersOf(counter, secrets, { tenant_id, event_id, body, attempt });
      return { delivery_id, event_id: `evt_${event_id}`, type, run_id, attempt, body, headers };
    },
    async report(id, { place, started_at, ...attempt }) {
      const message = await messageFor(counter, await own(counter, id), place);
      const hasArrived = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
      const row = await noteForward(db, message, hasArrived ? "delivered" : "exhausted", {
        ...attempt,
        response: attempt.response?.replaceAll("\0", "").toWellFormed() ?? null,
        started_at: new Date(started_at),
      });
      return showDelivery(row);
    },
    async call({ type, metadata }) {
      const { event_id, created_at } = await call(counter, { type, ...(metadata && { metadata }) });
      return { event_id: `evt_${event_id}`, type, created_at: created_at.toISOString() };
    },
  };
}

async function own({ db, caller }: Counter, id: string): Promise<ListenerRow> {
  const row = await findListener(db, caller.tenant_id, id);
  if (!row) throw new Fault("route_not_found");
  return row;
}

type Message = Forwarded & { body: string };

async function messageFor(counter: Counter, listener: ListenerRow, place: string): Promise<Message> {
  const position = readPosition(place);
  const event = position && (await eventAt(counter.db, listener.tenant_id, position));
  if (!event) throw new Fault("route_not_found");
  const called = event.type === CALL ? (event.data as Called) : undefined;
  if (!called) return messageOf(counter, listener, event);
  return "delivery_id" in called
    ? messageAgain(counter, listener, called.delivery_id)
    : sampleFor(listener, event, called);
}

/** As everybody else is told it. */
async function messageOf(counter: Counter, listener: ListenerRow, event: EventRow): Promise<Message> {
  const { listener_id, tenant_id, name } = listener;
  const runs = await runsToTell(counter.db, [event.run_id], [tenant_id]);
  const hook = { webhook_id: listener_id, tenant_id, url: urlOf(name), events: [event.type] };
  const messages = messagesOf(counter, event, { hooks: [hook], runs });
  const message = messages.find(({ webhook_id }) => webhook_id === listener_id);
  if (message?.body == null) throw new Fault("run_deleted");
  return { ...message, body: message.body };
}

const addressed = ({ listener_id, tenant_id, name }: ListenerRow, event_id: string) => ({
  ...{ tenant_id, event_id, webhook_id: listener_id, url: urlOf(name) },
  delivery_id: deliveryId(event_id, listener_id),
});

/** Made anew each time, and always the same: all of it stands in the event. */
function sampleFor(
  listener: ListenerRow,
  { event_id, created_at }: EventRow,
  { type, metadata }: Exclude<Called, { delivery_id: string }>,
): Message {
  const body = sampleBody(type, { webhook_id: listener.listener_id, now: created_at, metadata });
  return { ...addressed(listener, event_id), type, body, run_id: null };
}

/** To whoever listens now; the one that passed it on the first time may be gone. */
async function messageAgain({ db }: Counter, listener: ListenerRow, id: string): Promise<Message> {
  const row = await findDelivery(db, listener.tenant_id, id);
  if (row?.body == null) throw new Fault("run_deleted");
  const { event_id, type, run_id, body } = row;
  return { ...addressed(listener, event_id), type, run_id, body };
}
