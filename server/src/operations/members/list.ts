import { z } from "zod";
import { renderMember } from "../../access/members.ts";
import { paginate } from "../../access/pagination.ts";
import { paginationFields } from "../../contract/pagination.ts";
import { MemberPage } from "../../contract/schemas/access.ts";
import { listMemberRows } from "../../db/access/members.ts";
import { defineQuery } from "../define-query.ts";

export const listMembers = defineQuery({
  name: "members.list",
  summary: "List members of the tenant, sorted by user ID",
  http: { method: "GET", path: "/members" },
  input: z.object(paginationFields),
  output: MemberPage,
  example: { limit: 20 },
  handle: (page, { cursors, database, caller }) =>
    paginate(cursors, page, {
      scope: ["members", caller.tenant_id],
      read: (after, limit) => listMemberRows(database, caller.tenant_id, after, limit),
      cursorId: (row) => row.user_id,
      render: renderMember,
    }),
});
