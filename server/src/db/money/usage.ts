// The runs of a tenant and their cost, from daily sums and the runs that are not in them yet. Its cost depends on the
// days, keys and models, and not on the number of runs.
import type { UsageDimension } from "../../contract/schemas/usage.ts";
import type { Database } from "../connect.ts";
import { statementVariants } from "../statement.ts";
import { ATTRIBUTION_KINDS, type AttributionKind } from "./attributed-holders.ts";
import { IS_COUNTED } from "./usage-sums.ts";

export type UsageRow = {
  day?: string;
  key_id?: string | null;
  model?: string | null;
  operation?: string;
  customer?: string;
  end_user?: string;
  tag?: string;
  runs: number;
  completed: number;
  failed: number;
  canceled: number;
  amount: number;
  unpriced: number;
};

/** What the cost is attributed to is a kind of row and no column. */
type Column = Exclude<UsageDimension, AttributionKind> | "value";

const DIMENSIONS: Record<Column, string> = {
  day: "to_char(day, 'YYYY-MM-DD') as day",
  key: "key_id",
  model: "model",
  operation: "operation",
  value: "of_value as value",
};
const OWN_COLUMNS: Column[] = ["day", "key", "model", "operation"];
const ATTRIBUTED_COLUMNS: Column[] = ["day", "model", "value"];

export type UsageQuery = { from: string; to: string; by: UsageDimension[]; limit: number };

/** Every sequence of different columns; the sequence also determines the order of the rows. */
function* listSequences(columns: Column[], by: Column[] = []): Generator<Column[]> {
  yield by;
  for (const column of columns) if (!by.includes(column)) yield* listSequences(columns, [...by, column]);
}

/** PostgreSQL expects few rows between two values, and then reads the newest events of the tenant by their order. */
const HIGHEST_XACT = "9223372036854775807";

/** Sums, with the columns of one run, as a run of the table `runs` is one. */
type SumsSource = { columns: string; sums: string; archived: string; cursor: string; join: string; where: string };
const OWN_SUMS: SumsSource = {
  columns: "day, key_id, model, operation",
  ...{
    sums: "from daily_usage",
    archived: "from archived_usage",
    cursor: "from daily_usage_cursor",
    join: "",
    where: "",
  },
};
const ATTRIBUTED_SUMS: SumsSource = {
  columns: "day, of_value, model",
  ...{
    sums: "from attributed_usage",
    archived: "from archived_attributed_usage",
    cursor: "from attributed_usage_cursor",
  },
  join: "cross join lateral attributions_of(customer, end_user, cost_tags)",
  where: "and of_kind = :kind",
};

const FIGURES = "completed, failed, canceled, amount, unpriced";

/** Runs as rows of sums. */
const runsAsSums = ({ columns, join, where }: SumsSource) => `select day_of(created_at) as ${columns}, 1 as runs,
         (status = 'completed')::int as completed, (status = 'failed')::int as failed,
         (status = 'canceled')::int as canceled, coalesce((cost ->> 'amount')::numeric, 0) as amount,
         (status = 'completed' and cost is null)::int as unpriced
       from runs ${join} where tenant_id = :tenant_id and ${IS_COUNTED} ${where}
         and created_at >= :from::date::timestamp at time zone 'UTC'
         and created_at < (:to::date + 1)::timestamp at time zone 'UTC'`;

const storedSums = (table: string, { columns, where }: SumsSource) => `select ${columns},
         completed + failed + canceled as runs, ${FIGURES}
       ${table}
       where tenant_id = :tenant_id and day >= :from::date and day <= :to::date ${where}`;

/**
 * A run is in the sums, or it is open, or its end is an event behind the position of the sums. One statement reads all
 * three on one snapshot, so each run counts once. While the sums are being built, the runs themselves are summed up:
 * their ids are bounded to use the index, and may be older than `created_at`, hence the hour on both sides.
 */
function sumUsageSql(source: SumsSource, by: Column[]): string {
  const columns = by.map((column) => `${DIMENSIONS[column]},`).join(" ");
  const positions = by.map((_, index) => index + 1).join(", ");
  return `with cursor as materialized (
       select xact, seq, xact is not null and backfill_before is null as is_complete ${source.cursor}
     ), counted as (
       ${storedSums(source.sums, source)} and (select is_complete from cursor)
       union all
       ${runsAsSums(source)} and (select is_complete from cursor) and run_id = any(array(
           select run_id from open_runs where tenant_id = :tenant_id
           union all
           select run_id from events where tenant_id = :tenant_id and terminal
             and xact between (select xact from cursor) and ${HIGHEST_XACT}
             and (xact, seq) > ((select xact from cursor), (select seq from cursor))))
       union all
       ${storedSums(source.archived, source)} and not (select is_complete from cursor)
       union all
       ${runsAsSums(source)} and not (select is_complete from cursor)
         and not exists (select from archived_runs where archived_runs.run_id = runs.run_id)
         and run_id >= uuid_floor(:from::date::timestamp at time zone 'UTC' - interval '1 hour')
         and run_id < uuid_floor((:to::date + 1)::timestamp at time zone 'UTC' + interval '1 hour')
     )
     select ${columns} coalesce(sum(runs), 0)::int as runs, coalesce(sum(completed), 0)::int as completed,
       coalesce(sum(failed), 0)::int as failed, coalesce(sum(canceled), 0)::int as canceled,
       coalesce(sum(amount), 0)::float as amount, coalesce(sum(unpriced), 0)::int as unpriced
     from counted ${positions ? `group by ${positions} order by ${positions}` : ""} limit :limit`;
}

const listVariants = (source: SumsSource, columns: Column[]) =>
  Object.fromEntries([...listSequences(columns)].map((by) => [by.join("."), sumUsageSql(source, by)]));

const SUM_USAGE = statementVariants("usage.sum", listVariants(OWN_SUMS, OWN_COLUMNS));
const SUM_ATTRIBUTED = statementVariants("usage.sum_attributed", listVariants(ATTRIBUTED_SUMS, ATTRIBUTED_COLUMNS));

type UsageSums = Pick<UsageRow, "runs" | "completed" | "failed" | "canceled" | "amount" | "unpriced">;

const isAttribution = (dimension: UsageDimension): dimension is AttributionKind =>
  (ATTRIBUTION_KINDS as readonly string[]).includes(dimension);

/** Whether there are such sums: at most one attribution, and beside it only days and models. */
export const canSumBy = (by: UsageDimension[]): boolean => {
  const kinds = by.filter(isAttribution);
  return (
    kinds.length === 0 ||
    (kinds.length === 1 && by.every((each) => isAttribution(each) || ["day", "model"].includes(each)))
  );
};

/** Both days are included. */
export async function sumUsage(
  db: Database,
  tenantId: string,
  { from, to, by, limit }: UsageQuery,
): Promise<UsageRow[]> {
  const kind = by.find(isAttribution);
  const columns = by.map((each): Column => (isAttribution(each) ? "value" : each));
  const parameters = { tenant_id: tenantId, from, to, limit };
  if (kind === undefined) {
    const variant = SUM_USAGE.get(columns.join("."))!.columns<UsageSums & { day?: string; operation?: string }>();
    return db.execute(variant, parameters);
  }
  const variant = SUM_ATTRIBUTED.get(columns.join("."))!.columns<UsageSums & { day?: string; value?: string }>();
  const rows = await db.execute(variant, { ...parameters, kind });
  return rows.map(({ value, ...row }) => ({ ...row, [kind]: value }));
}
