// The event log, in commit-safe order. A reader that continues from its last position sees every event once: readers
// stop below the oldest transaction that is still open, so no event can appear behind them.
import type { JsonObject } from "../contract/schemas/run.ts";
import type { Database } from "./connect.ts";
import { deleteBatches, deleteBatchSql, FIRST_ID } from "./delete-batches.ts";
import { statement } from "./statement.ts";

/** A position in the log, between two events. */
export type LogPosition = { xact: number; seq: number };

export type EventRow = LogPosition & {
  event_id: string;
  /** The id of the event itself if it belongs to no run. */
  run_id: string;
  tenant_id: string;
  type: string;
  data: JsonObject;
  terminal: boolean;
  created_at: Date;
};

/** For updates of `runs` that also insert an event: `returning last_event_xact` is the `xact` of the event. */
export const SET_LAST_EVENT_XACT = "last_event_xact = greatest(last_event_xact, event_xact())";

export const LOG_START: LogPosition = { xact: 0, seq: 0 };

const DIGITS = 12;
const formatNumber = (value: number) => value.toString(16).padStart(DIGITS, "0");

/** A position as callers store it. Later positions are also greater as strings. */
export const formatPosition = ({ xact, seq }: LogPosition): string => `${formatNumber(xact)}-${formatNumber(seq)}`;

export function parsePosition(id: string): LogPosition | undefined {
  const [, xact, seq] = /^([0-9a-f]{12})-([0-9a-f]{12})$/.exec(id) ?? [];
  return xact && seq ? { xact: Number.parseInt(xact, 16), seq: Number.parseInt(seq, 16) } : undefined;
}

export const isPositionAfter = (one: LogPosition, other: LogPosition): boolean =>
  one.xact > other.xact || (one.xact === other.xact && one.seq > other.seq);

export const EVENT_COLUMNS = "event_id, run_id, tenant_id, type, data, terminal, xact, seq, created_at";

const READ_HORIZON = statement("events.horizon", "select event_log_horizon() as xact").columns<{ xact: number }>();

/** The current end of the final part of the log: all events before it can be read, and none will be added there. */
export async function readLogHead(db: Database): Promise<LogPosition> {
  const [row] = await db.execute(READ_HORIZON);
  return { xact: row!.xact, seq: 0 };
}

const LIST_AFTER = statement(
  "events.list_after",
  `select ${EVENT_COLUMNS} from events
   where (xact, seq) > (:xact, :seq) and xact < (select event_log_horizon())
   order by xact, seq limit :limit`,
);

/** The next events of all tenants, in order. */
export async function listEventsAfter(db: Database, { xact, seq }: LogPosition, limit: number): Promise<EventRow[]> {
  return db.execute(LIST_AFTER, { xact, seq, limit });
}

const LIST_OF_TENANT = statement(
  "events.list_of_tenant",
  `select ${EVENT_COLUMNS} from events
   where tenant_id = :tenant_id and (xact, seq) > (:xact, :seq) and xact < (select event_log_horizon())
   order by xact, seq limit :limit`,
);

/** The next events of one tenant, or of the end user to whom the database is scoped, in order. */
export async function listTenantEvents(
  db: Database,
  tenantId: string,
  { xact, seq, limit }: LogPosition & { limit: number },
): Promise<EventRow[]> {
  const page = { tenant_id: tenantId, xact, seq, limit };
  if (db.endUser !== undefined) return db.execute(LIST_OF_END_USER, { ...page, end_user: db.endUser });
  return db.execute(LIST_OF_TENANT, page);
}

/** Through the runs of the end user, so that it does not read the events of others in between. */
const LIST_OF_END_USER = statement(
  "events.list_of_end_user",
  `select ${EVENT_COLUMNS.replace("run_id", "theirs.run_id").replace("tenant_id", "theirs.tenant_id").replace("created_at", "theirs.created_at")}
   from runs cross join lateral (
     select ${EVENT_COLUMNS} from events
     where events.run_id = runs.run_id and events.tenant_id = :tenant_id and (xact, seq) > (:xact, :seq)
       and xact < (select event_log_horizon())
   ) as theirs
   where runs.tenant_id = :tenant_id and runs.end_user = :end_user
   order by xact, seq limit :limit`,
);

const LIST_OF_RUN = statement(
  "events.list_of_run",
  `select ${EVENT_COLUMNS}, xact < (select event_log_horizon()) as is_final from events
   where run_id = :run_id and tenant_id = :tenant_id order by xact, seq`,
).columns<{ is_final: boolean }>();

/** All events of one run, in order. Earlier events may still be inserted before those that are not `is_final`. */
export async function listRunEvents(
  db: Database,
  tenantId: string,
  runId: string,
): Promise<(EventRow & { is_final: boolean })[]> {
  return db.execute(LIST_OF_RUN, { tenant_id: tenantId, run_id: runId });
}

const LIST_LATEST_OF_OPEN_RUNS = statement(
  "events.list_latest_of_open_runs",
  `select ${EVENT_COLUMNS.replace("run_id", "newest.run_id")} from (
     select run_id from open_runs where tenant_id = :tenant_id
       and (:end_user?::text is null
         or exists (select from runs where runs.run_id = open_runs.run_id and runs.end_user = :end_user?))
     order by run_id desc limit :limit
   ) as open cross join lateral (
     select ${EVENT_COLUMNS} from events
     where events.run_id = open.run_id and tenant_id = :tenant_id and (xact, seq) <= (:xact, :seq)
     order by xact desc, seq desc limit 1
   ) as newest
   order by xact, seq`,
);

/** The last event of each open run of the tenant up to a position of the log, in order. */
export async function listLatestEventsOfOpenRuns(
  db: Database,
  tenantId: string,
  { xact, seq, limit }: LogPosition & { limit: number },
): Promise<EventRow[]> {
  return db.execute(LIST_LATEST_OF_OPEN_RUNS, { tenant_id: tenantId, xact, seq, limit, end_user: db.endUser });
}

const REPAIR_CLOCK = statement(
  "events.repair_clock",
  `update event_clock set xact_offset = newest.xact + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
   from (select max(xact) as xact from events) as newest
   where newest.xact >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + xact_offset`,
);

const NOTICE_RESTORE = statement("events.notice_restore", "select notice_restored_event_log() as is_restored").columns<{
  is_restored: boolean;
}>();

/**
 * After a restore into another cluster, lifts new events above the restored ones. After a restore to an earlier time,
 * lifts them above all positions of the lost period. Otherwise changes nothing. Returns whether the log was restored.
 */
export async function repairEventClock(db: Database): Promise<boolean> {
  await db.execute(REPAIR_CLOCK);
  const [row] = await db.execute(NOTICE_RESTORE);
  return row!.is_restored;
}

const FIND_RESTORE = statement(
  "events.find_restore",
  `select coalesce((select timeline <> event_log_timeline() from event_clock), false)
     or exists (select from lost_event_positions where noticed_at > now() - make_interval(days => :days)) as is_recent`,
).columns<{ is_recent: boolean }>();

/**
 * Whether PostgreSQL began another timeline in the last `days` days: it was restored to an earlier time, or failed over
 * to a standby. A restore is also recent if no process has noticed it yet. False if the server does not say its
 * timeline, as some managed services, and after a restore from a snapshot of the disk, which keeps the timeline.
 */
export async function isRecentlyRestored(db: Database, days: number): Promise<boolean> {
  const [row] = await db.execute(FIND_RESTORE, { days });
  return row!.is_recent;
}

const FIND_LOST = statement(
  "events.find_lost_position",
  `select exists (
     select from lost_event_positions where (:xact::bigint, :seq::bigint) > (from_xact, 0) and :xact::bigint < until_xact
   ) or (:xact::bigint, :seq::bigint) > (event_log_horizon(), 0) as is_lost`,
).columns<{ is_lost: boolean }>();

/** Whether events up to this position were read, and lost when the database was restored to an earlier time. */
export async function isPositionLost(db: Database, { xact, seq }: LogPosition): Promise<boolean> {
  const [row] = await db.execute(FIND_LOST, { xact, seq });
  return row!.is_lost;
}

/**
 * The events of an open run stay, whatever their age, and so do those that the sums of usage have not counted.
 * While the sums are being built, all stay: the events tell which of the runs have ended since the start.
 */
const DELETE_OLD = statement(
  "events.delete_old",
  deleteBatchSql({
    table: "events",
    key: "run_id",
    isExpired: `run_id < uuid_floor(now() - make_interval(days => :days))
       and not exists (select from open_runs where open_runs.run_id = events.run_id)
       and xact < (select min(case when xact is null then 9223372036854775807 when backfill_before is null then xact else 0 end)
         from (select xact, backfill_before from daily_usage_cursor
           union all select xact, backfill_before from attributed_usage_cursor) as sums)`,
  }),
).columns<{ deleted: number }>();

/** Deletes events of runs that are older than `days` days. Returns whether there is more to delete. */
export async function deleteOldEvents(db: Database, days: number): Promise<boolean> {
  return deleteBatches<string>(FIRST_ID, (page) => db.execute(DELETE_OLD, { days, ...page }));
}
