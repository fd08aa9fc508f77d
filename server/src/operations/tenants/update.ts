import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { requireTenant } from "../../access/tenants.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import {
  archiveAfterDays,
  retentionDays,
  Tenant,
  TenantLimits,
  tenantId,
  tenantName,
  tenantProvenance,
  weight,
} from "../../contract/schemas/access.ts";
import { findTenantDeletion } from "../../db/access/tenant-deletions.ts";
import { findTenant, updateTenantRow } from "../../db/access/tenants.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

const CANNOT_SIGN = {
  ...{ path: "/provenance/mode", code: "custom", message: "sign needs the setting PROVENANCE_CERTIFICATE" },
};

type Needs = Pick<AccessDependencies, "systemDatabase" | "canSign" | "invalidateCredentials">;

export const updateTenant = defineQuery({
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
  async handle({ tenant_id: tenantId, ...change }, { caller }, services: Needs) {
    const { systemDatabase, canSign } = services;
    assertNotAccessToken(caller);
    requireTenant(await findTenant(systemDatabase, tenantId));
    if (await findTenantDeletion(systemDatabase, tenantId))
      throw new Fault("conflict", { retryable: false, reason: "being_deleted" });
    if (change.provenance?.mode === "sign" && !canSign) throw new Fault("validation_error", { errors: [CANNOT_SIGN] });
    const row = await updateTenantRow(systemDatabase, caller, tenantId, change);
    services.invalidateCredentials();
    return requireTenant(row);
  },
});
