import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { tenantId } from "../../kit/schemas/access.ts";
import { TenantUsage } from "../../kit/schemas/usage.ts";

export const getTenantUsage = defineOperation({
  name: "tenants.usage",
  summary: "Get the runs, cost, balance and storage of a tenant as numbers, without any content (operator)",
  http: { method: "GET", path: "/tenants/:tenant_id/usage" },
  input: z.object({
    tenant_id: tenantId(),
    from: z.iso.date().optional().describe("First day in UTC. Default: 29 days before the last day"),
    to: z.iso.date().optional().describe("Last day in UTC. Default: today"),
  }),
  output: TenantUsage,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001" },
  respond: ({ tenant_id, from, to }, services) => services.money.tenantUsage(tenant_id, { from, to }),
});
