// Requests the deletion of a tenant and reads its state. The work is a background duty; this only records the request.
import { findTenantDeletion, insertTenantDeletion, type TenantDeletionRow } from "../db/access/tenant-deletions.ts";
import { findTenant } from "../db/access/tenants.ts";
import type { Database } from "../db/connect.ts";
import { Fault } from "../faults.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { TenantDeletion } from "../kit/schemas/tenant-data.ts";
import { assertNotAccessToken } from "./delegation.ts";
import type { RequestContext } from "./request-context.ts";

type Dependencies = { systemDatabase: Database; invalidateCredentials(): void };

export function createTenantDeletions(
  { systemDatabase, invalidateCredentials }: Dependencies,
  { caller }: RequestContext,
): Pick<AccessServices["tenants"], "delete" | "getDeletion"> {
  return {
    async delete(tenantId, confirm) {
      assertNotAccessToken(caller);
      const earlier = await findTenantDeletion(systemDatabase, tenantId);
      if (earlier) return renderTenantDeletion(earlier);
      const tenant = await findTenant(systemDatabase, tenantId);
      if (!tenant) throw new Fault("route_not_found");
      // The request would delete the credential that it was sent with.
      if (tenantId === caller.tenant_id) throw new Fault("conflict", { retryable: false, reason: "own_tenant" });
      if (tenant.name !== confirm) throw notConfirmed();
      const row = await insertTenantDeletion(systemDatabase, caller, tenantId);
      invalidateCredentials();
      if (row) return renderTenantDeletion(row);
      const concurrent = await findTenantDeletion(systemDatabase, tenantId);
      if (!concurrent) throw new Fault("conflict", { retryable: false, reason: "not_suspended" });
      return renderTenantDeletion(concurrent);
    },
    async getDeletion(tenantId) {
      const row = await findTenantDeletion(systemDatabase, tenantId);
      if (!row) throw new Fault("route_not_found");
      return renderTenantDeletion(row);
    },
  };
}

const notConfirmed = () =>
  new Fault("validation_error", {
    errors: [{ path: "/confirm", code: "unknown_value", message: "Must be the name of the tenant." }],
  });

const MICRO_DOLLARS = 1_000_000;

const renderTenantDeletion = ({
  deleted_tenant_id,
  audit_digest,
  digest,
  ...row
}: TenantDeletionRow): TenantDeletion => ({
  tenant_id: deleted_tenant_id,
  state: row.state,
  requested_at: row.requested_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
  deleted_rows: row.deleted_rows as Record<string, number>,
  deleted_objects: row.deleted_objects,
  deleted_bytes: row.deleted_bytes,
  ledger: Object.fromEntries(
    Object.entries(row.ledger).map(([accounts, amount]) => [accounts, Number(amount) / MICRO_DOLLARS]),
  ),
  audit_digest: audit_digest?.toString("hex") ?? null,
  digest: digest?.toString("hex") ?? null,
});
