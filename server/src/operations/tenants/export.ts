import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { SIGNATURE_VALID_MS } from "../../access/cursors.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { exportScope } from "../../access/tenant-export.ts";
import { disclosureReason, tenantId } from "../../contract/schemas/access.ts";
import { TenantExport } from "../../contract/schemas/tenant-data.ts";
import { findTenant } from "../../db/access/tenants.ts";
import { insertDisclosure } from "../../db/admin/disclosures.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

type Needs = Pick<AccessDependencies, "systemDatabase" | "publicUrl" | "clock">;

export const exportTenantData = defineQuery({
  name: "tenants.export",
  summary: "Get a URL that returns all data of a tenant as JSON Lines, from one snapshot (operator with content:read)",
  http: { method: "POST", path: "/tenants/:tenant_id/export", bodies: ["json"], status: 201 },
  changes: "access",
  returnsContent: true,
  input: z.object({ tenant_id: tenantId(), reason: disclosureReason() }),
  output: TenantExport,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001", reason: "Request of the tenant, ticket 4711" },
  // Recorded, with the reason, in the audit logs of the tenant and of the operator.
  async handle({ tenant_id, reason }, { caller, cursors }, { systemDatabase, publicUrl, clock }: Needs) {
    assertNotAccessToken(caller);
    const tenant = await findTenant(systemDatabase, tenant_id);
    if (!tenant) throw new Fault("route_not_found");
    const entry = { action: "tenants.export", subject: tenant.tenant_id, reason, tenantIds: [tenant.tenant_id] };
    await insertDisclosure(systemDatabase, caller, entry);
    const signature = cursors.sign(exportScope(tenant_id), tenant_id);
    return {
      tenant_id,
      url: `${publicUrl.replace(/\/+$/, "")}/exports/${tenant_id}/${signature}`,
      expires_at: new Date(clock.now() + SIGNATURE_VALID_MS).toISOString(),
    };
  },
});
