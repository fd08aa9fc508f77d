import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { tenantId, tenantName } from "../../kit/schemas/access.ts";
import { TenantDeletion } from "../../kit/schemas/tenant-data.ts";

export const deleteTenant = defineOperation({
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
  respond: ({ tenant_id, confirm }, services) => services.tenants.delete(tenant_id, confirm),
});
