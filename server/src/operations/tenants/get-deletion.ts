import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { tenantId } from "../../kit/schemas/access.ts";
import { TenantDeletion } from "../../kit/schemas/tenant-data.ts";

export const getTenantDeletion = defineOperation({
  name: "tenants.getDeletion",
  summary: "Get the state and the certificate of the deletion of a tenant (operator)",
  http: { method: "GET", path: "/tenants/:tenant_id/deletion" },
  input: z.object({ tenant_id: tenantId() }),
  output: TenantDeletion,
  example: { tenant_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  respond: (input, services) => services.tenants.getDeletion(input.tenant_id),
});
