import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { tenantId } from "../../kit/schemas/access.ts";
import { TenantExport } from "../../kit/schemas/tenant-data.ts";

export const exportTenantData = defineOperation({
  name: "tenants.export",
  summary: "Get a URL that returns all data of a tenant as JSON Lines, from one snapshot (operator)",
  http: { method: "POST", path: "/tenants/:tenant_id/export", status: 201 },
  changes: "access",
  input: z.object({ tenant_id: tenantId() }),
  output: TenantExport,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001" },
  respond: (input, services) => services.tenants.export(input.tenant_id),
});
