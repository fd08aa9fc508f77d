// The runs of a tenant and their cost, from daily sums and the runs that are not in them yet. Its cost depends on the
// days, keys and models, and not on the number of runs.
import type { UsageDimension } from "../../contract/schemas/usage.ts";
import type { Database } from "../connect.ts";
import { statementVariants } from "../statement.ts";
import { IS_COUNTED } from "./daily-usage.ts";

export type UsageRow = {
  day?: string;
  key_id?: string | null;
  model?: string | null;
  operation?: string;
  runs: number;
  completed: number;
  failed: number;
  canceled: number;
  amount: number;
  unpriced: number;
};

const DIMENSIONS: Record<UsageDimension, string> = {
  day: "to_char(day, 'YYYY-MM-DD') as day",
  key: "key_id",
  model: "model",
  operation: "operation",
};

export type UsageQuery = { from: string; to: string; by: UsageDimension[]; limit: number };

/** Every sequence of different dimensions; the sequence also determines the order of the rows. */
function* usageVariants(by: UsageDimension[] = []): Generator<[string, string]> {
  yield [by.join("."), sumUsageSql(by)];
  for (const dimension of Object.keys(DIMENSIONS) as UsageDimension[]) {
    if (!by.includes(dimension)) yield* usageVariants([...by, dimension]);
  }
}

/** PostgreSQL expects few rows between two values, and then reads the newest events of the tenant by their order. */
const HIGHEST_XACT = "9223372036854775807";

/** One run as a row of sums. */
const RUN_AS_SUMS = `select day_of(created_at) as day, key_id, model, operation, 1 as runs,
         (status = 'completed')::int as completed, (status = 'failed')::int as failed,
         (status = 'canceled')::int as canceled, coalesce((cost ->> 'amount')::numeric, 0) as amount,
         (status = 'completed' and cost is null)::int as unpriced
       from runs where tenant_id = :tenant_id and ${IS_COUNTED}
         and created_at >= :from::date::timestamp at time zone 'UTC'
         and created_at < (:to::date + 1)::timestamp at time zone 'UTC'`;

/**
 * A run is in the daily sums, or it is open, or its end is an event behind the position of the sums. One statement
 * reads all three on one snapshot, so each run counts once. While the sums are being built, the runs themselves are
 * summed up: their ids are bounded to use the index, and may be older than `created_at`, hence the hour on both sides.
 */
function sumUsageSql(by: UsageDimension[]): string {
  const columns = by.map((dimension) => `${DIMENSIONS[dimension]},`).join(" ");
  const positions = by.map((_, index) => index + 1).join(", ");
  return `with cursor as materialized (
       select xact, seq, xact is not null and backfill_before is null as is_complete from daily_usage_cursor
     ), counted as (
       select day, key_id, model, operation, completed + failed + canceled as runs, completed, failed, canceled, amount,
         unpriced
       from daily_usage
       where tenant_id = :tenant_id and day >= :from::date and day <= :to::date and (select is_complete from cursor)
       union all
       ${RUN_AS_SUMS} and (select is_complete from cursor) and run_id = any(array(
           select run_id from open_runs where tenant_id = :tenant_id
           union all
           select run_id from events where tenant_id = :tenant_id and terminal
             and xact between (select xact from cursor) and ${HIGHEST_XACT}
             and (xact, seq) > ((select xact from cursor), (select seq from cursor))))
       union all
       select day, key_id, model, operation, completed + failed + canceled as runs, completed, failed, canceled, amount,
         unpriced
       from archived_usage
       where tenant_id = :tenant_id and day >= :from::date and day <= :to::date and not (select is_complete from cursor)
       union all
       ${RUN_AS_SUMS} and not (select is_complete from cursor)
         and not exists (select from archived_runs where archived_runs.run_id = runs.run_id)
         and run_id >= uuid_floor(:from::date::timestamp at time zone 'UTC' - interval '1 hour')
         and run_id < uuid_floor((:to::date + 1)::timestamp at time zone 'UTC' + interval '1 hour')
     )
     select ${columns} coalesce(sum(runs), 0)::int as runs, coalesce(sum(completed), 0)::int as completed,
       coalesce(sum(failed), 0)::int as failed, coalesce(sum(canceled), 0)::int as canceled,
       coalesce(sum(amount), 0)::float as amount, coalesce(sum(unpriced), 0)::int as unpriced
     from counted ${positions ? `group by ${positions} order by ${positions}` : ""} limit :limit`;
}

const SUM_USAGE = statementVariants("usage.sum", Object.fromEntries(usageVariants()));

type UsageSums = Pick<UsageRow, "runs" | "completed" | "failed" | "canceled" | "amount" | "unpriced">;

/** Both days are included. */
export async function sumUsage(
  db: Database,
  tenantId: string,
  { from, to, by, limit }: UsageQuery,
): Promise<UsageRow[]> {
  const variant = SUM_USAGE.get(by.join("."))!.columns<UsageSums & { day?: string; operation?: string }>();
  return db.execute(variant, { tenant_id: tenantId, from, to, limit });
}
