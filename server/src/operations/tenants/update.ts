import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import {
  archiveAfterDays,
  retentionDays,
  Tenant,
  TenantLimits,
  tenantId,
  tenantName,
  tenantProvenance,
  weight,
} from "../../kit/schemas/access.ts";

export const updateTenant = defineOperation({
  name: "tenants.update",
  summary: "Change the name, weight, limits, retention or provenance of a tenant, or suspend it (operator)",
  http: { method: "PATCH", path: "/tenants/:tenant_id", bodies: ["json"] },
  changes: "installation",
  input: z.object({
    tenant_id: tenantId(),
    name: tenantName().optional(),
    weight: weight().optional(),
    limits: TenantLimits.describe("All limits of the tenant. Limits that you omit are removed").optional(),
    retention_days: retentionDays().optional(),
    archive_after_days: archiveAfterDays().optional(),
    provenance: tenantProvenance().optional(),
    suspended: z
      .boolean()
      .optional()
      .describe(
        "true: Gesso refuses all credentials of the tenant, starts none of its runs and sends none of its webhooks. false: Gesso accepts and continues them",
      ),
  }),
  rules: [
    atLeastOneChange(
      ...["name", "weight", "limits", "retention_days", "archive_after_days", "provenance", "suspended"],
    ),
  ],
  output: Tenant,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001", weight: 2 },
  respond: ({ tenant_id, ...change }, services) => services.tenants.update(tenant_id, change),
});
