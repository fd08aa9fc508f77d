import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { disclosureReason, tenantId } from "../../kit/schemas/access.ts";
import { TenantExport } from "../../kit/schemas/tenant-data.ts";

export const exportTenantData = defineOperation({
  name: "tenants.export",
  summary: "Get a URL that returns all data of a tenant as JSON Lines, from one snapshot (operator with content:read)",
  http: { method: "POST", path: "/tenants/:tenant_id/export", bodies: ["json"], status: 201 },
  changes: "access",
  returnsContent: true,
  input: z.object({ tenant_id: tenantId(), reason: disclosureReason() }),
  output: TenantExport,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001", reason: "Request of the tenant, ticket 4711" },
  respond: (input, services) => services.tenants.export(input.tenant_id, input.reason),
});
