import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { renderTenantDeletion } from "../../access/tenant-deletion.ts";
import { tenantId } from "../../contract/schemas/access.ts";
import { TenantDeletion } from "../../contract/schemas/tenant-data.ts";
import { findTenantDeletion } from "../../db/access/tenant-deletions.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

export const getTenantDeletion = defineQuery({
  name: "tenants.getDeletion",
  summary: "Get the state and the certificate of the deletion of a tenant (operator)",
  http: { method: "GET", path: "/tenants/:tenant_id/deletion" },
  input: z.object({ tenant_id: tenantId() }),
  output: TenantDeletion,
  example: { tenant_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" },
  async handle({ tenant_id }, _request, { systemDatabase }: Pick<AccessDependencies, "systemDatabase">) {
    const row = await findTenantDeletion(systemDatabase, tenant_id);
    if (!row) throw new Fault("route_not_found");
    return renderTenantDeletion(row);
  },
});
