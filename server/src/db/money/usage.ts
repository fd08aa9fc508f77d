// The cost of a tenant's runs, summed up from the runs of the requested days.
import type { UsageDimension } from "../../kit/schemas/usage.ts";
import type { Database } from "../connect.ts";
import { statementVariants } from "../statement.ts";

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
  day: "to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day",
  key: "key_id",
  model: "model",
  operation: "operation",
};

export type UsageQuery = { from: string; to: string; by: UsageDimension[]; limit: number };

const SUM_USAGE = statementVariants("usage.sum", Object.fromEntries(usageVariants()));

/** Every sequence of different dimensions; the sequence also determines the order of the rows. */
function* usageVariants(by: UsageDimension[] = []): Generator<[string, string]> {
  yield [by.join("."), sumUsageSql(by)];
  for (const dimension of Object.keys(DIMENSIONS) as UsageDimension[]) {
    if (!by.includes(dimension)) yield* usageVariants([...by, dimension]);
  }
}

/** The ids are bounded to use the index; an id may be older than `created_at`, hence the hour on both sides. */
function sumUsageSql(by: UsageDimension[]): string {
  const columns = by.map((dimension) => `${DIMENSIONS[dimension]},`).join(" ");
  const positions = by.map((_, index) => index + 1).join(", ");
  return `select ${columns} count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed,
       count(*) filter (where status = 'failed')::int as failed,
       count(*) filter (where status = 'canceled')::int as canceled,
       coalesce(sum((cost ->> 'amount')::numeric), 0)::float as amount,
       count(*) filter (where status = 'completed' and cost is null)::int as unpriced
     from runs
     where tenant_id = :tenant_id and run_type not in ('upload', 'mask-upload')
       and run_id >= uuid_floor(:from::date::timestamp at time zone 'UTC' - interval '1 hour')
       and run_id < uuid_floor((:to::date + 1)::timestamp at time zone 'UTC' + interval '1 hour')
       and created_at >= :from::date::timestamp at time zone 'UTC'
       and created_at < (:to::date + 1)::timestamp at time zone 'UTC'
     ${positions ? `group by ${positions} order by ${positions}` : ""} limit :limit`;
}

type UsageSums = Pick<UsageRow, "runs" | "completed" | "failed" | "canceled" | "amount" | "unpriced">;

/** Both days are included. */
export async function sumUsage(
  db: Database,
  tenantId: string,
  { from, to, by, limit }: UsageQuery,
): Promise<UsageRow[]> {
  const variant = SUM_USAGE.get(by.join("."))!.columns<UsageSums & { day?: string }>();
  return db.execute(variant, { tenant_id: tenantId, from, to, limit });
}
