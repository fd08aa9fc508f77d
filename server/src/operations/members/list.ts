import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { paginationFields } from "../../kit/pagination.ts";
import { MemberPage } from "../../kit/schemas/access.ts";

export const listMembers = defineOperation({
  name: "members.list",
  summary: "The people of the tenant, by their ids",
  http: { method: "GET", path: "/members" },
  input: z.object(paginationFields),
  output: MemberPage,
  example: { limit: 20 },
  respond: (input, ask) => ask.members.list(input),
});
