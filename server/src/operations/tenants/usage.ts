import { z } from "zod";
import { tenantId } from "../../contract/schemas/access.ts";
import { TenantUsage } from "../../contract/schemas/usage.ts";
import { reportTenantUsage, type UsageDependencies } from "../../money/usage.ts";
import { defineQuery } from "../define-query.ts";

export const getTenantUsage = defineQuery({
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
  handle: ({ tenant_id, ...days }, request, services: UsageDependencies) =>
    reportTenantUsage(services, request, tenant_id, days),
});
