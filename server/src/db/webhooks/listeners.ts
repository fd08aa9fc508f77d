// Listeners: who passes messages on from a machine of their own, what they say came of it, and what they are called with.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Actor } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import type { EventRow, LogPosition } from "../event-log.ts";
import type { DeliveryAttemptRow, DeliveryRow, DeliveryStatus, NewDelivery } from "./deliveries.ts";
import type { SealedSecret } from "./secrets.ts";

export type ListenerRow = { listener_id: string; tenant_id: string; name: string; created_at: Date; seen_at: Date };

/** Nobody comes back after so long, and their secrets need not be kept. */
const LISTENER_RETENTION = "30 days";

/** Also forgets those of the tenant that nobody has heard of for long. */
export async function insertListener(
  db: Database,
  actor: Actor,
  { listener_id, name, secret }: Pick<ListenerRow, "listener_id" | "name"> & { secret: SealedSecret },
): Promise<ListenerRow> {
  const [row] = await db.query<ListenerRow>(
    "listeners.create",
    `with old as (
       delete from webhook_listeners where tenant_id = $1 and seen_at < now() - interval '${LISTENER_RETENTION}' returning listener_id
     ), forgotten as (
       delete from webhook_secrets where tenant_id = $1 and owner_id = any (array(select listener_id from old))
     ), made as (
       insert into webhook_listeners (listener_id, tenant_id, name) values ($4, $1, $5) returning *
     ), kept as (
       insert into webhook_secrets (tenant_id, owner_id, secret_id, key_id, sealed)
       select $1, listener_id, $6, $7, $8 from made
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $2, $3, 'webhooks.listeners.create', listener_id::text, jsonb_build_object('name', name) from made
     )
     select * from made`,
    [
      ...[actor.tenant_id, actor.user_id, actor.key_id, listener_id, name],
      ...[secret.secret_id, secret.key_id, secret.sealed],
    ],
  );
  return row!;
}

export async function findListener(db: Database, tenantId: string, id: string): Promise<ListenerRow | undefined> {
  const [row] = await db.query<ListenerRow>(
    "listeners.find",
    "select * from webhook_listeners where tenant_id = $1 and listener_id = $2",
    [tenantId, id],
  );
  return row;
}

/** The event at this place of the log, if it is the tenant's. */
export async function findEventAt(
  db: Database,
  tenantId: string,
  { xact, seq }: LogPosition,
): Promise<EventRow | undefined> {
  const [row] = await db.query<EventRow>(
    "listeners.event",
    "select * from events where tenant_id = $1 and xact = $2 and seq = $3",
    [tenantId, xact, seq],
  );
  return row;
}

export type ForwardedDelivery = Pick<
  NewDelivery,
  "delivery_id" | "tenant_id" | "event_id" | "run_id" | "webhook_id" | "type" | "url" | "body"
>;

/** What came of one attempt. Told twice it is noted once; a late word never undoes that the message has arrived. */
export async function recordForward(
  db: Database,
  sent: ForwardedDelivery,
  status: DeliveryStatus,
  attempt: DeliveryAttemptRow,
): Promise<DeliveryRow> {
  const [row] = await db.query<DeliveryRow>(
    "listeners.note",
    `with noted as (
       insert into webhook_deliveries as d (delivery_id, tenant_id, event_id, run_id, webhook_id, type, url, body, status,
         attempts, finished_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now())
       on conflict (delivery_id) do update set attempts = greatest(d.attempts, excluded.attempts), finished_at = now(),
         status = case when d.status = 'delivered' then d.status else excluded.status end
       returning *
     ), tried as (
       insert into webhook_attempts (delivery_id, attempt, tenant_id, started_at, duration_ms, status, error, response)
       select delivery_id, $10, $2, $11, $12, $13, $14, $15 from noted on conflict do nothing
     ), seen as (
       update webhook_listeners set seen_at = now() where tenant_id = $2 and listener_id = $5
     )
     select * from noted`,
    [
      ...[
        sent.delivery_id,
        sent.tenant_id,
        sent.event_id,
        sent.run_id,
        sent.webhook_id,
        sent.type,
        sent.url,
        sent.body,
      ],
      ...[status, attempt.attempt, attempt.started_at, attempt.duration_ms, attempt.status, attempt.error],
      attempt.response,
    ],
  );
  return row!;
}

/** Tells whoever listens, and nobody else: no webhook can ask for this type. */
export async function insertTestEvent(
  db: Database,
  tenantId: string,
  eventId: string,
  data: JsonObject,
): Promise<Date> {
  const [row] = await db.query<{ created_at: Date }>(
    "listeners.call",
    `insert into events (run_id, event_id, tenant_id, type, data) values ($2, $2, $1, 'webhook.test', $3::jsonb)
     returning created_at`,
    [tenantId, eventId, JSON.stringify(data)],
  );
  return row!.created_at;
}
