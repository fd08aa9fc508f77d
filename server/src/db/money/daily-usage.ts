// Daily sums of ended runs, kept from the event log. Every run is added exactly once: the position in the log, or the
// position of the backfill, advances in the statement that adds to the sums.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/** Runs that usage does not count. */
export const IS_COUNTED = "run_type not in ('upload', 'mask-upload')";

/** Columns of the sums over runs; `runs` has the columns of the table. */
const SUMS = `select tenant_id, day_of(created_at) as day, operation, model, key_id,
       count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed,
       count(*) filter (where status = 'canceled') as canceled,
       count(*) filter (where status = 'completed' and cost is null) as unpriced,
       coalesce(sum((cost ->> 'amount')::numeric), 0) as amount`;
const GROUPED = "group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5";

const addSql = (sums: string) => `insert into daily_usage as known
       (tenant_id, day, operation, model, key_id, completed, failed, canceled, unpriced, amount)
     select tenant_id, day, operation, model, key_id, completed, failed, canceled, unpriced, amount from ${sums}
     on conflict (tenant_id, day, operation, model, key_id) do update
     set completed = known.completed + excluded.completed, failed = known.failed + excluded.failed,
       canceled = known.canceled + excluded.canceled, unpriced = known.unpriced + excluded.unpriced,
       amount = known.amount + excluded.amount`;

/**
 * The row lock lets one process at a time add. A process that waited for it continues from the new position, and its
 * older snapshot contains all events below its own horizon.
 */
const ADD_ENDED_RUNS = statement(
  "daily_usage.add_ended_runs",
  `with cursor as materialized (
     select xact, seq, read_at from daily_usage_cursor where xact is not null for update
   ), batch as materialized (
     select run_id, terminal, xact, seq from events
     where (xact, seq) > ((select xact from cursor), (select seq from cursor)) and xact < (select event_log_horizon())
     order by xact, seq limit :limit
   ), sums as (
     ${SUMS} from runs
     where run_id = any(array(select run_id from batch where terminal)) and ${IS_COUNTED} ${GROUPED}
   ), added as (
     ${addSql("sums")}
   ), last as (
     select xact, seq from batch order by xact desc, seq desc limit 1
   ), advanced as (
     update daily_usage_cursor set read_at = now(), xact = coalesce((select xact from last), daily_usage_cursor.xact),
       seq = coalesce((select seq from last), daily_usage_cursor.seq)
     from cursor where exists (select from last) or cursor.read_at < now() - interval '1 hour'
   )
   select exists (select from cursor) as is_started, (select count(*) from batch)::int as events,
     backfill_before is not null as is_backfilling,
     coalesce(read_at < now() - 0.9 * make_interval(days => :event_days), false) as is_outdated,
     array(select run_id from batch where terminal) as ended_run_ids
   from daily_usage_cursor`,
).columns<UsageProgress>();

export type UsageProgress = {
  is_started: boolean;
  events: number;
  is_backfilling: boolean;
  is_outdated: boolean;
  /** The runs whose end is among the events. Every run is returned once. */
  ended_run_ids: string[];
};

/**
 * Adds the runs that have ended since, from at most `limit` events. `is_outdated`: the position was so old that events
 * behind it may have been deleted after `eventDays` days.
 */
export async function addEndedRuns(db: Database, limit: number, eventDays: number): Promise<UsageProgress> {
  const [row] = await db.execute(ADD_ENDED_RUNS, { limit, event_days: eventDays });
  return row!;
}

/** A run whose end is an event at or behind the position of the start is added from the log. */
const BACKFILL = statement(
  "daily_usage.backfill",
  `with cursor as materialized (
     select backfill_xact, backfill_before from daily_usage_cursor
     where xact is not null and backfill_before is not null for update
   ), piece as materialized (
     select run_id, tenant_id, created_at, operation, model, key_id, run_type, status, cost from runs
     where run_id < (select backfill_before from cursor) order by run_id desc limit :limit
   ), sums as (
     ${SUMS} from piece
     where status in ('completed', 'failed', 'canceled') and ${IS_COUNTED} and not exists (
       select from events
       where events.run_id = piece.run_id and terminal and xact >= (select backfill_xact from cursor))
       and not exists (select from archived_runs where archived_runs.run_id = piece.run_id)
     ${GROUPED}
   ), added as (
     ${addSql("sums")}
   ), advanced as (
     update daily_usage_cursor
     set backfill_before = (select run_id from piece order by run_id desc offset :limit::int - 1 limit 1)
     where exists (select from cursor)
   )
   select (select count(*) from piece)::int as runs`,
).columns<{ runs: number }>();

/** Adds the next `limit` runs that had ended before the start. Returns whether there are more. */
export async function backfillDailyUsage(db: Database, limit: number): Promise<boolean> {
  const [row] = await db.execute(BACKFILL, { limit });
  return row!.runs === limit;
}

const RESET = statement("daily_usage.reset", "update daily_usage_cursor set xact = null, seq = null");

/** The next turns rebuild the sums. Until then, usage is summed up from the runs. */
export async function resetDailyUsage(db: Database): Promise<void> {
  await db.execute(RESET);
}

/** While the position is null, no process adds: what is visible here is all there is. */
const CLEAR = statement(
  "daily_usage.clear",
  "delete from daily_usage where exists (select from daily_usage_cursor where xact is null)",
);

/**
 * Runs whose events are before the horizon are committed, so the backfill sees them. Archived runs are added here; no
 * run is archived until the sums are complete.
 */
const START = statement(
  "daily_usage.start",
  `with started as (
     update daily_usage_cursor set xact = event_log_horizon(), seq = 0, backfill_xact = event_log_horizon(),
       backfill_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff', read_at = now()
     where xact is null returning id
   )
   ${addSql("archived_usage where exists (select from started)")}`,
);

/** Starts the sums at the end of the log; a backfill adds all earlier runs. */
export async function startDailyUsage(db: Database): Promise<void> {
  await db.execute(CLEAR);
  await db.execute(START);
}
