// Events that could not become webhook deliveries. The fan-out moves its cursor past such an event in the statement
// that sets it aside, so one event never stops the others and none is forgotten.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { EVENT_COLUMNS, type EventRow, type LogPosition } from "../event-log.ts";
import { statement } from "../statement.ts";

const SET_ASIDE = statement(
  "set_aside_events.insert",
  `with advanced as (
     update webhook_cursor set xact = :to_xact, seq = :to_seq where xact = :from_xact and seq = :from_seq returning id
   ), inserted as (
     insert into webhook_set_aside_events (event_id, run_id, tenant_id, type, reason)
     select :event_id, :run_id, :tenant_id, :type, :reason from advanced
     on conflict (event_id) do nothing
   )
   select exists (select from advanced) as is_advanced`,
).columns<{ is_advanced: boolean }>();

/** Sets the event after the position `from` aside. Returns false if another process has advanced the cursor. */
export async function setEventAside(
  db: Database,
  from: LogPosition,
  event: EventRow,
  reason: string,
): Promise<boolean> {
  const { event_id, run_id, tenant_id, type, xact, seq } = event;
  const [row] = await db.execute(SET_ASIDE, {
    ...{ from_xact: from.xact, from_seq: from.seq, to_xact: xact, to_seq: seq },
    ...{ event_id, run_id, tenant_id, type, reason },
  });
  return row!.is_advanced;
}

const RECORD = statement(
  "set_aside_events.record",
  `insert into webhook_set_aside_events (event_id, run_id, tenant_id, type, reason)
   values (:event_id, :run_id, :tenant_id, :type, :reason) on conflict (event_id) do nothing`,
);

/** Sets an event aside that a replay could not send. */
export async function recordSetAsideEvent(db: Database, event: EventRow, reason: string): Promise<void> {
  const { event_id, run_id, tenant_id, type } = event;
  await db.execute(RECORD, { event_id, run_id, tenant_id, type, reason });
}

const CLAIM_DUE = statement(
  "set_aside_events.claim_due",
  `update webhook_set_aside_events set retry_at = now() + make_interval(secs => :retry_seconds)
   where event_id = any (array(
     select event_id from webhook_set_aside_events where retry_at <= now() order by retry_at limit :limit
     for update skip locked))
   returning event_id, run_id`,
);

/** The next events to try again, for one process. Each is due again after `retrySeconds`, unless it is deleted. */
export async function claimDueSetAsideEvents(
  db: Database,
  { limit, retrySeconds }: { limit: number; retrySeconds: number },
): Promise<{ event_id: string; run_id: string }[]> {
  return db.execute(CLAIM_DUE, { limit, retry_seconds: retrySeconds });
}

const FIND_EVENT = statement(
  "set_aside_events.find_event",
  `select ${EVENT_COLUMNS} from events where run_id = :run_id and event_id = :event_id`,
);

/** Undefined after the event log has dropped the event. */
export async function findSetAsideEvent(
  db: Database,
  { event_id, run_id }: { event_id: string; run_id: string },
): Promise<EventRow | undefined> {
  const [row] = await db.execute(FIND_EVENT, { event_id, run_id });
  return row;
}

const RECORD_REASON = statement(
  "set_aside_events.record_reason",
  "update webhook_set_aside_events set reason = :reason where event_id = :event_id",
);

export async function recordSetAsideReason(db: Database, eventId: string, reason: string): Promise<void> {
  await db.execute(RECORD_REASON, { event_id: eventId, reason });
}

const DELETE = statement("set_aside_events.delete", "delete from webhook_set_aside_events where event_id = :event_id");

export async function deleteSetAsideEvent(db: Database, eventId: string): Promise<void> {
  await db.execute(DELETE, { event_id: eventId });
}

const COUNT = statement(
  "set_aside_events.count",
  "select count(*)::int as events, count(distinct tenant_id)::int as tenants, max(reason) as reason from webhook_set_aside_events",
).columns<{ events: number; tenants: number; reason: string | null }>();

/** How many events are set aside, of how many tenants, and one of the reasons. */
export async function countSetAsideEvents(
  db: Database,
): Promise<{ events: number; tenants: number; reason: string | null }> {
  const [row] = await db.execute(COUNT);
  return row!;
}

const LIST = statement(
  "set_aside_events.list",
  `select event_id, run_id, tenant_id, type, reason, retry_at from webhook_set_aside_events
   order by retry_at, event_id limit :limit`,
);

export async function listSetAsideEvents(db: Database, limit: number) {
  return db.execute(LIST, { limit });
}

const SKIP = statement(
  "set_aside_events.skip",
  `with skipped as (
     delete from webhook_set_aside_events where event_id = :event_id returning event_id, tenant_id, type
   ), entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, 'admin.skipEvent', event_id::text,
       jsonb_build_object('by_tenant', :actor_tenant_id::uuid, 'type', type)
     from skipped
   )
   select event_id from skipped`,
);

/** The event is never tried again. Returns false if it is not set aside. */
export async function skipSetAsideEvent(db: Database, actor: Actor, eventId: string): Promise<boolean> {
  const parameters = { event_id: eventId, ...actorParameters(actor), actor_tenant_id: actor.tenant_id };
  return (await db.execute(SKIP, parameters)).length > 0;
}
