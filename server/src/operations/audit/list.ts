import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { AuditPage } from "../../kit/schemas/access.ts";

export const listAudit = defineOperation({
  name: "audit.list",
  summary: "List changes to keys, members and settings of the tenant, newest first (owner)",
  http: { method: "GET", path: "/audit" },
  input: z.object(paginationFields),
  output: AuditPage,
  example: { limit: 20 },
  respond: (input, services) => services.tenants.auditLog(input),
});
