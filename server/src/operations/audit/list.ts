import { z } from "zod";
import { paginate } from "../../access/pagination.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { AuditPage } from "../../contract/schemas/access.ts";
import { listAuditEntries } from "../../db/access/audit-log.ts";
import { defineQuery } from "../define-query.ts";

export const listAudit = defineQuery({
  name: "audit.list",
  summary: "List changes to keys, members and settings of the tenant, newest first (owner)",
  http: { method: "GET", path: "/audit" },
  input: z.object(paginationFields),
  output: AuditPage,
  example: { limit: 20 },
  handle: (page, { cursors, database, caller }) =>
    paginate(cursors, page, {
      scope: ["audit", caller.tenant_id],
      read: (before, limit) =>
        listAuditEntries(database, caller.tenant_id, before === undefined ? undefined : Number(before), limit),
      cursorId: (row) => String(row.entry),
      render: ({ at, digest, ...row }) => ({ ...row, at: at.toISOString(), digest: digest.toString("hex") }),
    }),
});
