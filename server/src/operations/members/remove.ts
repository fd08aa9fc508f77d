import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Member, userId } from "../../kit/schemas/access.ts";

export const removeMember = defineOperation({
  name: "members.remove",
  summary: "Take a person out of the tenant; their keys and tokens stop working (owner)",
  http: { method: "DELETE", path: "/members/:user_id" },
  input: z.object({ user_id: userId("The person") }),
  output: Member,
  example: { user_id: "grace" },
  respond: (input, ask) => ask.members.remove(input.user_id),
});
