import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { requireTenant } from "../../access/tenants.ts";
import { Tenant, tenantId } from "../../contract/schemas/access.ts";
import { findTenant } from "../../db/access/tenants.ts";
import { defineQuery } from "../define-query.ts";

export const getTenant = defineQuery({
  name: "tenants.get",
  summary: "Get a tenant (operator)",
  http: { method: "GET", path: "/tenants/:tenant_id" },
  input: z.object({ tenant_id: tenantId() }),
  output: Tenant,
  example: { tenant_id: "00000000-0000-7000-8000-000000000001" },
  handle: async ({ tenant_id }, _request, { systemDatabase }: Pick<AccessDependencies, "systemDatabase">) =>
    requireTenant(await findTenant(systemDatabase, tenant_id)),
});
