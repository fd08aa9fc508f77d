// The log of events, read in its order. Whoever remembers where it was and reads on from there misses nothing and meets
// nothing twice: what is read is final, because no transaction that may still write lies below it.
import type { Json } from "../kit/shapes.ts";
import type { Database } from "./connect.ts";
import type { RunRow } from "./runs.ts";

/** A place in the log, between two events. */
export type Position = { xact: number; seq: number };

export type EventRow = Position & {
  event_id: string;
  /** The event itself where it is of no run. */
  run_id: string;
  tenant_id: string;
  type: string;
  data: Json;
  terminal: boolean;
  created_at: Date;
};

/** Every change of a run that is told moves its row to a place in the log; `returning told_xact` is the event's `xact`. */
export const TOLD = "told_xact = greatest(told_xact, event_xact())";

export const START: Position = { xact: 0, seq: 0 };

const DIGITS = 12;
const printNumber = (value: number) => value.toString(16).padStart(DIGITS, "0");

/** The name of a place, as callers keep it: of two, the greater is the later, as words too. */
export const printPosition = ({ xact, seq }: Position): string => `${printNumber(xact)}-${printNumber(seq)}`;

export function readPosition(id: string): Position | undefined {
  const [, xact, seq] = /^([0-9a-f]{12})-([0-9a-f]{12})$/.exec(id) ?? [];
  return xact && seq ? { xact: Number.parseInt(xact, 16), seq: Number.parseInt(seq, 16) } : undefined;
}

export const isAfter = (one: Position, other: Position): boolean =>
  one.xact > other.xact || (one.xact === other.xact && one.seq > other.seq);

/** Where the final part of the log ends at this moment: everything before it can be read, and nothing will be added to it. */
export async function headOf(db: Database): Promise<Position> {
  const [row] = await db.query<{ xact: number }>("events.head", "select event_horizon() as xact");
  return { xact: row!.xact, seq: 0 };
}

/** The next events of all tenants, in order. */
export async function eventsAfter(db: Database, { xact, seq }: Position, limit: number): Promise<EventRow[]> {
  return db.query<EventRow>(
    "events.after",
    `select * from events where (xact, seq) > ($1, $2) and xact < (select event_horizon())
     order by xact, seq limit $3`,
    [xact, seq, limit],
  );
}

/** The next events of one tenant, in order. */
export async function eventsOfTenant(
  db: Database,
  tenantId: string,
  { xact, seq, limit }: Position & { limit: number },
): Promise<EventRow[]> {
  return db.query<EventRow>(
    "events.ofTenant",
    `select * from events where tenant_id = $1 and (xact, seq) > ($2, $3) and xact < (select event_horizon())
     order by xact, seq limit $4`,
    [tenantId, xact, seq, limit],
  );
}

/** All events of one run, in order, also those that others may yet come before: whoever reads on waits for these. */
export async function eventsOfRun(
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
export async function standingAt(
  db: Database,
  tenantId: string,
  { xact, seq, limit }: Position & { limit: number },
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

const OF_RUN = [
  ...(["run_id", "run_type", "parent_run_id", "progress", "result", "error", "warnings", "metadata"] as const),
  ...(["created_at", "expires_at"] as const),
];
/** What of a run its events tell; the rest is large, or is not told. */
export type EventRun = Pick<RunRow, (typeof OF_RUN)[number]>;

/** The runs of these events, whoever's they are. */
export async function runsOfEvents(db: Database, events: readonly EventRow[]): Promise<Map<string, EventRun>> {
  const ids = [...new Set(events.map(({ run_id }) => run_id))];
  if (ids.length === 0) return new Map();
  const rows = await db.query<EventRun>(
    "events.runs",
    `select ${OF_RUN.join(", ")} from runs where run_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.run_id, row]));
}

/** A database that came from another cluster goes on above what it brought. Nothing changes anywhere else. */
export async function mendEventClock(db: Database): Promise<void> {
  await db.query(
    "events.mend",
    `update event_clock set shift = newest.xact + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
     from (select max(xact) as xact from events) as newest
     where newest.xact >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + shift`,
  );
}

/** Takes away the days that are older than so many days, whole; says how many. */
export async function dropOldEvents(db: Database, days: number): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    "events.drop",
    "select drop_event_days((now() at time zone 'UTC')::date - $1::int) as dropped",
    [days],
  );
  return row!.dropped;
}
