import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { renderTenantDeletion } from "../../access/tenant-deletion.ts";
import { tenantId, tenantName } from "../../contract/schemas/access.ts";
import { TenantDeletion } from "../../contract/schemas/tenant-data.ts";
import { findTenantDeletion, insertTenantDeletion } from "../../db/access/tenant-deletions.ts";
import { findTenant } from "../../db/access/tenants.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

const NOT_CONFIRMED = { path: "/confirm", code: "unknown_value", message: "Must be the name of the tenant." };

type Needs = Pick<AccessDependencies, "systemDatabase" | "invalidateCredentials">;

export const deleteTenant = defineQuery({
  name: "tenants.delete",
  summary: "Delete a suspended tenant with all its data. Nothing can be restored (operator)",
  // A name in the URL would appear in the access logs of proxies, so the confirmation is in a body.
  http: { method: "POST", path: "/tenants/:tenant_id/deletion", bodies: ["json"], status: 202 },
  changes: "installation",
  input: z.object({
    tenant_id: tenantId(),
    confirm: tenantName().describe("Name of the tenant, to confirm that you mean this one"),
  }),
  output: TenantDeletion,
  example: { tenant_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d", confirm: "Acme" },
  // Only records the request. Returns the deletion that was requested first.
  async handle({ tenant_id: tenantId, confirm }, { caller }, { systemDatabase, invalidateCredentials }: Needs) {
    assertNotAccessToken(caller);
    const earlier = await findTenantDeletion(systemDatabase, tenantId);
    if (earlier) return renderTenantDeletion(earlier);
    const tenant = await findTenant(systemDatabase, tenantId);
    if (!tenant) throw new Fault("route_not_found");
    // The request would delete the credential that it was sent with.
    if (tenantId === caller.tenant_id) throw new Fault("conflict", { retryable: false, reason: "own_tenant" });
    if (tenant.name !== confirm) throw new Fault("validation_error", { errors: [NOT_CONFIRMED] });
    const row = await insertTenantDeletion(systemDatabase, caller, tenantId);
    invalidateCredentials();
    if (row) return renderTenantDeletion(row);
    const concurrent = await findTenantDeletion(systemDatabase, tenantId);
    if (!concurrent) throw new Fault("conflict", { retryable: false, reason: "not_suspended" });
    return renderTenantDeletion(concurrent);
  },
});
