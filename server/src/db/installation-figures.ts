// Figures over the whole installation for metrics, in one statement. It reads open work only: its cost grows with what
// waits, never with history.

import type { Database } from "./connect.ts";
import { QUARANTINE_DEADLINE } from "./run-claims.ts";
import { statement } from "./statement.ts";

export type InstallationFigures = {
  queues: { provider: string; depth: number; oldest_age: number }[];
  requests: { provider: string; activity: string; count: number }[];
  unknown_attempts: { provider: string; count: number }[];
  open_breakers: { provider: string; count: number }[];
  queued: number;
  processing: number;
  not_started: number;
  requeued: number;
  quarantined: number;
  reserved: number;
  leases_held: number;
  horizon_lag: number;
  fan_out_lag: number;
  webhook_backlog: number;
  webhook_oldest_age: number;
  set_aside_events: number;
  outbox_depth: number;
  index_lag: number;
  lock_share: number;
};

/** Seconds since the run with this id was accepted: a UUID of version 7 begins with its time. */
const ageOfRunSql = (id: string) => `extract(epoch from now())
  - ('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0`;

/** Age of the oldest readable event behind a position of the log. */
const ageOfNextEventSql = (cursor: string) => `coalesce((
     select extract(epoch from now() - events.created_at) from ${cursor} as cursor, lateral (
       select created_at from events where (xact, seq) > (cursor.xact, cursor.seq) order by xact, seq limit 1) as events
   ), 0)::float`;

const listSql = (columns: string, source: string) =>
  `coalesce((select jsonb_agg(to_jsonb(listed)) from (select ${columns} ${source}) as listed), '[]')`;

const READ = statement(
  "installation.figures",
  `select ${listSql(
    `lane as provider, count(*)::int as depth, greatest(0, max(${ageOfRunSql("run_id")}))::float as oldest_age`,
    "from open_runs where dispatched_at is null group by lane",
  )} as queues,
   ${listSql(
     "coalesce(provider, lane) as provider, activity, count(*)::int as count",
     "from open_requests where activity is not null group by 1, 2",
   )} as requests,
   ${listSql(
     "provider, count(*)::int as count",
     "from attempts where run_id = any(array(select run_id from open_runs)) and state = 'unknown' group by 1",
   )} as unknown_attempts,
   ${listSql(
     "provider, count(*)::int as count",
     "from circuit_breakers where open_until > now() group by 1",
   )} as open_breakers,
   queued, processing, not_started, requeued, quarantined, reserved,
   (select count(*) from leases where until > now())::int as leases_held,
   coalesce((select extract(epoch from clock_timestamp() - created_at) from events
     where xact >= (select event_log_horizon()) order by xact, seq limit 1), 0)::float as horizon_lag,
   ${ageOfNextEventSql("webhook_cursor")} as fan_out_lag,
   webhook_backlog, webhook_oldest_age,
   (select count(*) from webhook_set_aside_events)::int as set_aside_events,
   (select count(*) from outbox where due_at < now())::int as outbox_depth,
   ${ageOfNextEventSql("run_index_position")} as index_lag,
   ((select count(*) from pg_locks where locktype <> 'virtualxid')::float / (
     current_setting('max_locks_per_transaction')::int
       * (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int))) as lock_share
   from (
     select count(*) filter (where started_at is null)::int as queued,
       count(*) filter (where started_at is not null)::int as processing,
       count(*) filter (where started_at is null and dispatched_at < now() - interval '1 second'
         and deadline_at < '${QUARANTINE_DEADLINE}')::int as not_started,
       count(*) filter (where epoch > 0)::int as requeued,
       count(*) filter (where deadline_at >= '${QUARANTINE_DEADLINE}')::int as quarantined,
       (coalesce(sum(reserved), 0) / 1000000.0)::float as reserved
     from open_runs
   ) as open, (
     select count(*)::int as webhook_backlog,
       greatest(0, coalesce(extract(epoch from now() - min(due_at)), 0))::float as webhook_oldest_age
     from open_deliveries where due_at < now()
   ) as due`,
).columns<InstallationFigures>();

/** Over all tenants: only for a database that is not scoped to a tenant. */
export async function readInstallationFigures(db: Database): Promise<InstallationFigures> {
  const [row] = await db.execute(READ);
  return row!;
}
