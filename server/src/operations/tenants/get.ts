import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Tenant, tenantId } from "../../kit/schemas/access.ts";

export const getTenant = defineOperation({
  name: "tenants.get",
  summary: "Get a tenant (operator)",
  http: { method: "GET", path: "/tenants/:tenant_id" },
  input: z.object({ tenant_id: tenantId() }),
  output: Tenant,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001" },
  respond: (input, services) => services.tenants.get(input.tenant_id),
});
