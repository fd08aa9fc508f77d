// A tenant as the operator sees it.

import type { Tenant, TenantLimits, TenantProvenance } from "../contract/schemas/access.ts";
import type { TenantRow } from "../db/access/tenants.ts";
import { Fault } from "../faults/faults.ts";

export function requireTenant(row: TenantRow | undefined): Tenant {
  if (!row) throw new Fault("route_not_found");
  return renderTenant(row);
}

export const renderTenant = ({ tenant_id, suspended_at, created_at, updated_at, ...row }: TenantRow): Tenant => ({
  id: tenant_id,
  name: row.name,
  weight: row.weight,
  limits: row.limits as TenantLimits,
  retention_days: row.retention_days,
  archive_after_days: row.archive_after_days,
  provenance: row.provenance as TenantProvenance | null,
  suspended: suspended_at !== null,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
