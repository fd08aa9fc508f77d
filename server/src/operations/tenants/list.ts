import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { paginate } from "../../access/pagination.ts";
import { renderTenant } from "../../access/tenants.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { TenantPage } from "../../contract/schemas/access.ts";
import { listTenantRows } from "../../db/access/tenants.ts";
import { defineQuery } from "../define-query.ts";

export const listTenants = defineQuery({
  name: "tenants.list",
  summary: "List tenants, newest first (operator)",
  http: { method: "GET", path: "/tenants" },
  input: z.object(paginationFields),
  output: TenantPage,
  example: { limit: 20 },
  handle: (page, { cursors }, { systemDatabase }: Pick<AccessDependencies, "systemDatabase">) =>
    paginate(cursors, page, {
      scope: ["tenants"],
      read: (before, limit) => listTenantRows(systemDatabase, before, limit),
      cursorId: (row) => row.tenant_id,
      render: renderTenant,
    }),
});
