// Sums of ended runs, kept from the event log: by day, operation, model and key, and by what their cost is attributed
// to. Every run is added exactly once: the position in the log, or the position of the backfill, advances in the
// statement that adds to the sums. Each kind of sums has positions of its own.
import type { Database } from "../connect.ts";
import { statementVariants } from "../statement.ts";

/** Runs that usage does not count. */
export const IS_COUNTED = "run_type not in ('upload', 'mask-upload')";

/**
 * `groups`: what a sum is by, beside tenant and day, each with its expression. `from`: where a run and its groups come
 * from, after its table. `archived`: the sums of runs that are in the archive.
 */
type SumsSpec = { cursor: string; archived: string; groups: string[]; from: string; isSummed: string; order: string };
const SUMS = {
  daily_usage: {
    ...{ cursor: "daily_usage_cursor", archived: "archived_usage", from: "", isSummed: "true" },
    groups: ["operation", "model", "key_id"],
    order: "tenant_id, day, operation, model, key_id",
  },
  attributed_usage: {
    ...{ cursor: "attributed_usage_cursor", archived: "archived_attributed_usage" },
    groups: ["of_kind", "of_value", "model"],
    from: "cross join lateral attributions_of(customer, end_user, cost_tags)",
    isSummed: "(customer is not null or end_user is not null or cost_tags is not null)",
    order: "tenant_id, of_kind, day, of_value, model",
  },
} satisfies Record<string, SumsSpec>;

/** The tables of sums. */
export type UsageSums = keyof typeof SUMS;
const SUMS_NAMES = Object.keys(SUMS) as UsageSums[];

const FIGURES = ["completed", "failed", "canceled", "unpriced", "amount"];

/** Columns of the sums over runs; `runs` has the columns of the table. */
const sumsSql = ({ groups }: SumsSpec) => `select tenant_id, day_of(created_at) as day, ${groups.join(", ")},
       count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed,
       count(*) filter (where status = 'canceled') as canceled,
       count(*) filter (where status = 'completed' and cost is null) as unpriced,
       coalesce(sum((cost ->> 'amount')::numeric), 0) as amount`;
const GROUPED = "group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5";

function addSql(name: UsageSums, from: string) {
  const { groups, order } = SUMS[name];
  const columns = ["tenant_id", "day", ...groups, ...FIGURES].join(", ");
  const added = FIGURES.map((figure) => `${figure} = known.${figure} + excluded.${figure}`);
  return `insert into ${name} as known (${columns})
     select ${columns} from ${from}
     on conflict (${order}) do update set ${added.join(", ")}`;
}

/** One statement for each kind of sums. */
const eachSums = (sql: (name: UsageSums, spec: SumsSpec) => string) =>
  Object.fromEntries(SUMS_NAMES.map((name) => [name, sql(name, SUMS[name])]));

/**
 * The row lock lets one process at a time add. A process that waited for it continues from the new position, and its
 * older snapshot contains all events below its own horizon.
 */
const ADD_ENDED_RUNS = statementVariants(
  "usage_sums.add_ended_runs",
  eachSums(
    (name, spec) => `with cursor as materialized (
     select xact, seq, read_at from ${spec.cursor} where xact is not null for update
   ), batch as materialized (
     select run_id, terminal, xact, seq from events
     where (xact, seq) > ((select xact from cursor), (select seq from cursor)) and xact < (select event_log_horizon())
     order by xact, seq limit :limit
   ), sums as (
     ${sumsSql(spec)} from runs ${spec.from}
     where run_id = any(array(select run_id from batch where terminal)) and ${IS_COUNTED} and ${spec.isSummed}
     ${GROUPED}
   ), added as (
     ${addSql(name, "sums")}
   ), last as (
     select xact, seq from batch order by xact desc, seq desc limit 1
   ), advanced as (
     update ${spec.cursor} as known set read_at = now(), xact = coalesce((select xact from last), known.xact),
       seq = coalesce((select seq from last), known.seq)
     from cursor where exists (select from last) or cursor.read_at < now() - interval '1 hour'
   )
   select exists (select from cursor) as is_started, (select count(*) from batch)::int as events,
     backfill_before is not null as is_backfilling,
     coalesce(read_at < now() - 0.9 * make_interval(days => :event_days), false) as is_outdated,
     array(select run_id from batch where terminal) as ended_run_ids
   from ${spec.cursor}`,
  ),
);

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
export async function addEndedRuns(
  db: Database,
  sums: UsageSums,
  limit: number,
  eventDays: number,
): Promise<UsageProgress> {
  const add = ADD_ENDED_RUNS.get(sums)!.columns<UsageProgress>();
  const [row] = await db.execute(add, { limit, event_days: eventDays });
  return row!;
}

/** A run whose end is an event at or behind the position of the start is added from the log. */
const BACKFILL = statementVariants(
  "usage_sums.backfill",
  eachSums(
    (name, spec) => `with cursor as materialized (
     select backfill_xact, backfill_before from ${spec.cursor}
     where xact is not null and backfill_before is not null for update
   ), piece as materialized (
     select run_id from runs
     where run_id < (select backfill_before from cursor) order by run_id desc limit :limit
   ), sums as (
     ${sumsSql(spec)} from piece join runs using (run_id) ${spec.from}
     where ${spec.isSummed} and status in ('completed', 'failed', 'canceled') and ${IS_COUNTED} and not exists (
       select from events
       where events.run_id = piece.run_id and terminal and xact >= (select backfill_xact from cursor))
       and not exists (select from archived_runs where archived_runs.run_id = piece.run_id)
     ${GROUPED}
   ), added as (
     ${addSql(name, "sums")}
   ), advanced as (
     update ${spec.cursor}
     set backfill_before = (select run_id from piece order by run_id desc offset :limit::int - 1 limit 1)
     where exists (select from cursor)
   )
   select (select count(*) from piece)::int as runs`,
  ),
);

/** Adds the next `limit` runs that had ended before the start. Returns whether there are more. */
export async function backfillUsage(db: Database, sums: UsageSums, limit: number): Promise<boolean> {
  const [row] = await db.execute(BACKFILL.get(sums)!.columns<{ runs: number }>(), { limit });
  return row!.runs === limit;
}

const RESET = statementVariants(
  "usage_sums.reset",
  eachSums((_, { cursor }) => `update ${cursor} set xact = null, seq = null`),
);

/** The next turns rebuild the sums. Until then, usage is summed up from the runs. */
export async function resetUsage(db: Database, sums: UsageSums): Promise<void> {
  await db.execute(RESET.get(sums)!);
}

/** While the position is null, no process adds: what is visible here is all there is. */
const CLEAR = statementVariants(
  "usage_sums.clear",
  eachSums((name, { cursor }) => `delete from ${name} where exists (select from ${cursor} where xact is null)`),
);

/**
 * Runs whose events are before the horizon are committed, so the backfill sees them. Archived runs are added here; no
 * run is archived until the sums are complete.
 */
const START = statementVariants(
  "usage_sums.start",
  eachSums(
    (name, { cursor, archived }) => `with started as (
     update ${cursor} set xact = event_log_horizon(), seq = 0, backfill_xact = event_log_horizon(),
       backfill_before = 'ffffffff-ffff-ffff-ffff-ffffffffffff', read_at = now()
     where xact is null returning id
   )
   ${addSql(name, `${archived} where exists (select from started)`)}`,
  ),
);

/** Starts the sums at the end of the log; a backfill adds all earlier runs. */
export async function startUsage(db: Database, sums: UsageSums): Promise<void> {
  await db.execute(CLEAR.get(sums)!);
  await db.execute(START.get(sums)!);
}
