import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { perPage } from "../../kit/pages.ts";
import { MemberPage } from "../../kit/shapes-access.ts";

export const listMembers = defineOperation({
  name: "members.list",
  summary: "The people of the tenant, by their ids",
  http: { method: "GET", path: "/members" },
  input: z.object(perPage),
  output: MemberPage,
  example: { limit: 20 },
  answer: (input, ask) => ask.members.list(input),
});
