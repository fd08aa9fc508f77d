// What a tenant's runs cost, summed up from the runs themselves. It reads the tenant's runs of the days asked for.
import type { UsageDimension } from "../../kit/schemas/usage.ts";
import type { Database } from "../connect.ts";

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

const COLUMNS: Record<UsageDimension, string> = {
  day: "to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day",
  key: "key_id",
  model: "model",
  operation: "operation",
};

export type UsageQuery = { from: string; to: string; by: UsageDimension[]; limit: number };

/** Both days are included. An id may be a moment older than its row, so a little more is looked at than is counted. */
export async function sumUsage(
  db: Database,
  tenantId: string,
  { from, to, by, limit }: UsageQuery,
): Promise<UsageRow[]> {
  const columns = by.map((dimension) => `${COLUMNS[dimension]},`).join(" ");
  const groupByPositions = by.map((_, index) => index + 1).join(", ");
  return db.query<UsageRow>(
    `usage.${by.join(".")}`,
    `select ${columns} count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed,
       count(*) filter (where status = 'failed')::int as failed, count(*) filter (where status = 'canceled')::int as canceled,
       coalesce(sum((cost ->> 'amount')::numeric), 0)::float as amount,
       count(*) filter (where status = 'completed' and cost is null)::int as unpriced
     from runs
     where tenant_id = $1 and run_type not in ('upload', 'mask-upload')
       and run_id >= uuid_floor($2::date::timestamp at time zone 'UTC' - interval '1 hour')
       and run_id < uuid_floor(($3::date + 1)::timestamp at time zone 'UTC' + interval '1 hour')
       and created_at >= $2::date::timestamp at time zone 'UTC'
       and created_at < ($3::date + 1)::timestamp at time zone 'UTC'
     ${groupByPositions ? `group by ${groupByPositions} order by ${groupByPositions}` : ""} limit $4`,
    [tenantId, from, to, limit],
  );
}
