import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Member, userId } from "../../kit/schemas/access.ts";

export const removeMember = defineOperation({
  name: "members.remove",
  summary: "Remove a member from the tenant. Their keys and tokens stop working (owner)",
  http: { method: "DELETE", path: "/members/:user_id" },
  changes: "access",
  input: z.object({ user_id: userId("User ID of the member") }),
  output: Member,
  example: { user_id: "grace" },
  respond: (input, services) => services.members.remove(input.user_id),
});
