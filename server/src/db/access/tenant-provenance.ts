// The provenance settings of a tenant, for workers. The operator changes them with the tenant.
import type { TenantProvenance } from "../../contract/schemas/access.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

const FIND = statement("tenants.find_provenance", "select provenance from tenants where tenant_id = :tenant_id");

/** Undefined if the tenant has no settings of its own. */
export async function findTenantProvenance(db: Database, tenantId: string): Promise<TenantProvenance | undefined> {
  const [row] = await db.execute(FIND, { tenant_id: tenantId });
  return (row?.provenance as TenantProvenance | null | undefined) ?? undefined;
}
