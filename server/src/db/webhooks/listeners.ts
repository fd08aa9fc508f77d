// Listeners: programs that forward events to a URL only they can reach, and report the results.
import type { JsonObject } from "../../contract/schemas/run.ts";
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { EVENT_COLUMNS, type EventRow, type LogPosition } from "../event-log.ts";
import { statement } from "../statement.ts";
import type { DeliveryStatus } from "../typed-columns.ts";
import { DELIVERY_COLUMNS, type DeliveryAttemptRow, type DeliveryRow, type NewDelivery } from "./deliveries.ts";
import type { SealedSecret } from "./secrets.ts";

export type ListenerRow = { listener_id: string; tenant_id: string; name: string; created_at: Date; seen_at: Date };

/** Listeners that were not seen for this long are deleted with their secrets. */
const LISTENER_RETENTION = "30 days";
const LISTENER_COLUMNS = "listener_id, tenant_id, name, created_at, seen_at";

const INSERT = statement(
  "listeners.insert",
  `with expired as (
     delete from webhook_listeners
     where tenant_id = :tenant_id and seen_at < now() - interval '${LISTENER_RETENTION}' returning listener_id
   ), deleted_secrets as (
     delete from webhook_secrets
     where tenant_id = :tenant_id and owner_id = any (array(select listener_id from expired))
   ), inserted as (
     insert into webhook_listeners (listener_id, tenant_id, name) values (:listener_id, :tenant_id, :name)
     returning ${LISTENER_COLUMNS}
   ), secret as (
     insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
     select :tenant_id, listener_id, :secret_id, :secret_key_id, :sealed_secret from inserted
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?, 'webhooks.listeners.create', listener_id::text,
       jsonb_build_object('name', name)
     from inserted
   )
   select ${LISTENER_COLUMNS} from inserted`,
);

/** Also deletes the tenant's listeners that have not been seen for `LISTENER_RETENTION`. */
export async function insertListener(
  db: Database,
  actor: Actor,
  { listener_id, name, secret }: Pick<ListenerRow, "listener_id" | "name"> & { secret: SealedSecret },
): Promise<ListenerRow> {
  const [row] = await db.execute(INSERT, {
    tenant_id: actor.tenant_id,
    ...actorParameters(actor),
    listener_id,
    name,
    secret_id: secret.secret_id,
    secret_key_id: secret.key_id,
    sealed_secret: secret.sealed,
  });
  return row!;
}

const FIND = statement(
  "listeners.find",
  `select ${LISTENER_COLUMNS} from webhook_listeners where tenant_id = :tenant_id and listener_id = :listener_id`,
);

export async function findListener(db: Database, tenantId: string, id: string): Promise<ListenerRow | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId, listener_id: id });
  return row;
}

const FIND_EVENT = statement(
  "listeners.find_event",
  `select ${EVENT_COLUMNS} from events where tenant_id = :tenant_id and xact = :xact and seq = :seq`,
);

/** The event of the tenant at this position of the log. */
export async function findEventAt(
  db: Database,
  tenantId: string,
  { xact, seq }: LogPosition,
): Promise<EventRow | undefined> {
  const [row] = await db.execute(FIND_EVENT, { tenant_id: tenantId, xact, seq });
  return row;
}

export type ForwardedDelivery = Pick<
  NewDelivery,
  "delivery_id" | "tenant_id" | "event_id" | "run_id" | "webhook_id" | "type" | "url" | "body"
>;

const RECORD_FORWARD = statement(
  "listeners.record_forward",
  `with delivery as (
     insert into webhook_deliveries as d (delivery_id, tenant_id, event_id, run_id, webhook_id, type, url, body, status,
       attempts, finished_at)
     values (:delivery_id, :tenant_id, :event_id, :run_id?, :listener_id?, :type, :url, :body?, :status, :attempt,
       now())
     on conflict (delivery_id) do update set attempts = greatest(d.attempts, excluded.attempts), finished_at = now(),
       status = case when d.status = 'delivered' then d.status else excluded.status end
     returning ${DELIVERY_COLUMNS}
   ), attempt as (
     insert into webhook_attempts (delivery_id, attempt, tenant_id, started_at, duration_ms, status, error, response)
     select delivery_id, :attempt, :tenant_id, :started_at, :duration_ms, :http_status?, :error?, :response?
     from delivery on conflict do nothing
   ), seen as (
     update webhook_listeners set seen_at = now() where tenant_id = :tenant_id and listener_id = :listener_id?
   )
   select ${DELIVERY_COLUMNS} from delivery`,
);

/** Records the result of an attempt. Idempotent; a late report does not undo that the message was delivered. */
export async function recordForward(
  db: Database,
  sent: ForwardedDelivery,
  status: DeliveryStatus,
  attempt: DeliveryAttemptRow,
): Promise<DeliveryRow> {
  const [row] = await db.execute(RECORD_FORWARD, {
    delivery_id: sent.delivery_id,
    tenant_id: sent.tenant_id,
    event_id: sent.event_id,
    run_id: sent.run_id,
    listener_id: sent.webhook_id,
    type: sent.type,
    url: sent.url,
    body: sent.body,
    status,
    attempt: attempt.attempt,
    started_at: attempt.started_at,
    duration_ms: attempt.duration_ms,
    http_status: attempt.status,
    error: attempt.error,
    response: attempt.response,
  });
  return row!;
}

const INSERT_TEST_EVENT = statement(
  "listeners.insert_test_event",
  `insert into events (run_id, event_id, tenant_id, type, data)
   values (:event_id, :event_id, :tenant_id, 'webhook.test', :data::jsonb) returning created_at`,
);

/** Inserts an event that only listeners receive: no endpoint can subscribe to its type. */
export async function insertTestEvent(
  db: Database,
  tenantId: string,
  eventId: string,
  data: JsonObject,
): Promise<Date> {
  const [row] = await db.execute(INSERT_TEST_EVENT, { tenant_id: tenantId, event_id: eventId, data });
  return row!.created_at;
}
