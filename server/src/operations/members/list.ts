import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { MemberPage } from "../../kit/schemas/access.ts";

export const listMembers = defineOperation({
  name: "members.list",
  summary: "List members of the tenant, sorted by user ID",
  http: { method: "GET", path: "/members" },
  input: z.object(paginationFields),
  output: MemberPage,
  example: { limit: 20 },
  respond: (input, services) => services.members.list(input),
});
