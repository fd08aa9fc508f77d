// The event log, in commit-safe order. A reader that continues from its last position sees every event once: readers stop
// below the oldest transaction that is still open, so no event can appear behind them.
import type { JsonObject } from "../kit/schemas/run.ts";
import type { Database } from "./connect.ts";
import type { RunRow } from "./runs/runs.ts";

/** A place in the log, between two events. */
export type LogPosition = { xact: number; seq: number };

export type EventRow = LogPosition & {
  event_id: string;
  /** The event itself where it is of no run. */
  run_id: string;
  tenant_id: string;
  type: string;
  data: JsonObject;
  terminal: boolean;
  created_at: Date;
};

/** Every change of a run that is told moves its row to a place in the log; `returning told_xact` is the event's `xact`. */
export const SET_LAST_EVENT_XACT = "told_xact = greatest(told_xact, event_xact())";

export const LOG_START: LogPosition = { xact: 0, seq: 0 };

const DIGITS = 12;
const formatNumber = (value: number) => value.toString(16).padStart(DIGITS, "0");

/** The name of a place, as callers keep it: of two, the greater is the later, as words too. */
export const formatPosition = ({ xact, seq }: LogPosition): string => `${formatNumber(xact)}-${formatNumber(seq)}`;

export function parsePosition(id: string): LogPosition | undefined {
  const [, xact, seq] = /^([0-9a-f]{12})-([0-9a-f]{12})$/.exec(id) ?? [];
  return xact && seq ? { xact: Number.parseInt(xact, 16), seq: Number.parseInt(seq, 16) } : undefined;
}

export const isPositionAfter = (one: LogPosition, other: LogPosition): boolean =>
  one.xact > other.xact || (one.xact === other.xact && one.seq > other.seq);

/** Where the final part of the log ends at this moment: everything before it can be read, and nothing will be added to it. */
export async function readLogHead(db: Database): Promise<LogPosition> {
  const [row] = await db.query<{ xact: number }>("events.head", "select event_horizon() as xact");
  return { xact: row!.xact, seq: 0 };
}

/** The next events of all tenants, in order. */
export async function listEventsAfter(db: Database, { xact, seq }: LogPosition, limit: number): Promise<EventRow[]> {
  return db.query<EventRow>(
    "events.after",
    `select * from events where (xact, seq) > ($1, $2) and xact < (select event_horizon())
     order by xact, seq limit $3`,
    [xact, seq, limit],
  );
}

/** The next events of one tenant, in order. */
export async function listTenantEvents(
  db: Database,
  tenantId: string,
  { xact, seq, limit }: LogPosition & { limit: number },
): Promise<EventRow[]> {
  return db.query<EventRow>(
    "events.ofTenant",
    `select * from events where tenant_id = $1 and (xact, seq) > ($2, $3) and xact < (select event_horizon())
     order by xact, seq limit $4`,
    [tenantId, xact, seq, limit],
  );
}

/** All events of one run, in order, also those that others may yet come before: whoever reads on waits for these. */
export async function listRunEvents(
  db: Database,
  tenantId: string,
  runId: string,
): Promise<(EventRow & { is_final: boolean })[]> {
  return db.query<EventRow & { is_final: boolean }>(
    "events.ofRun",
    `select *, xact < (select event_horizon()) as is_final from events where run_id = $2 and tenant_id = $1
     order by xact, seq`,
    [tenantId, runId],
  );
}

/** How the tenant's open runs stood at a place in the log: the last event of each before it, in order. */
export async function listLatestEventsOfOpenRuns(
  db: Database,
  tenantId: string,
  { xact, seq, limit }: LogPosition & { limit: number },
): Promise<EventRow[]> {
  return db.query<EventRow>(
    "events.standing",
    `select newest.* from (
       select run_id from open_runs where tenant_id = $1 order by run_id desc limit $4
     ) as open cross join lateral (
       select * from events
       where events.run_id = open.run_id and tenant_id = $1 and (xact, seq) <= ($2, $3)
       order by xact desc, seq desc limit 1
     ) as newest
     order by xact, seq`,
    [tenantId, xact, seq, limit],
  );
}

const EVENT_RUN_COLUMNS = [
  ...(["run_id", "run_type", "parent_run_id", "progress", "result", "error", "warnings", "metadata"] as const),
  ...(["created_at", "expires_at"] as const),
];
/** What of a run its events tell; the rest is large, or is not told. */
export type EventRunRow = Pick<RunRow, (typeof EVENT_RUN_COLUMNS)[number]>;

/** The runs of these events, whoever's they are. */
export async function findRunsOfEvents(db: Database, events: readonly EventRow[]): Promise<Map<string, EventRunRow>> {
  const ids = [...new Set(events.map(({ run_id }) => run_id))];
  if (ids.length === 0) return new Map();
  const rows = await db.query<EventRunRow>(
    "events.runs",
    `select ${EVENT_RUN_COLUMNS.join(", ")} from runs where run_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.run_id, row]));
}

/** A database that came from another cluster goes on above what it brought. Nothing changes anywhere else. */
export async function repairEventClock(db: Database): Promise<void> {
  await db.query(
    "events.mend",
    `update event_clock set shift = newest.xact + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
     from (select max(xact) as xact from events) as newest
     where newest.xact >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + shift`,
  );
}

/** Takes away the days that are older than so many days, whole; says how many. */
export async function dropEventPartitions(db: Database, days: number): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    "events.drop",
    "select drop_event_days((now() at time zone 'UTC')::date - $1::int) as dropped",
    [days],
  );
  return row!.dropped;
}
