// Suspension of tenants as other statements see it: whether a tenant is suspended, and what follows when it is active
// again.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/**
 * SQL condition: the tenant is suspended. `tenantId` is an SQL expression, qualified if it is a column. A scalar
 * subquery looks one tenant up; `exists` could become a join that reads all tenants.
 */
export const isSuspendedSql = (tenantId: string) =>
  `((select tenants.suspended_at from tenants where tenants.tenant_id = ${tenantId}) is not null)`;

/**
 * CTEs that add the time of a suspension that has ended to the deadlines of queued runs and to the retry schedules of
 * webhook deliveries. `changed` is a CTE with the changed tenant and, as `held_since`, its former `suspended_at`.
 */
export const extendDeadlinesSql = ({ changed }: { changed: string }) => `extended_runs as (
     update open_runs set deadline_at = deadline_at + (now() - held_since) from ${changed}
     where open_runs.tenant_id = ${changed}.tenant_id and open_runs.dispatched_at is null
       and held_since is not null and suspended_at is null
   ), extended_deliveries as (
     update open_deliveries set expires_at = expires_at + (now() - held_since) from ${changed}
     where open_deliveries.tenant_id = ${changed}.tenant_id and held_since is not null and suspended_at is null
   )`;

const READ = statement("suspension.read", `select ${isSuspendedSql(":tenant_id")} as is_suspended`).columns<{
  is_suspended: boolean;
}>();

export async function isTenantSuspended(db: Database, tenantId: string): Promise<boolean> {
  const [row] = await db.execute(READ, { tenant_id: tenantId });
  return row!.is_suspended;
}
