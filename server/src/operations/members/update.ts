import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { Member, memberEmail, memberName, role, userId } from "../../kit/schemas/access.ts";

export const updateMember = defineOperation({
  name: "members.update",
  summary: "Change a member. A new role applies to all keys and tokens of the member (owner)",
  http: { method: "PATCH", path: "/members/:user_id", bodies: ["json"] },
  changes: "access",
  input: z.object({
    user_id: userId("User ID of the member"),
    role: role().optional(),
    name: memberName().optional(),
    email: memberEmail().optional(),
  }),
  rules: [atLeastOneChange("role", "name", "email")],
  output: Member,
  example: { user_id: "grace", role: "viewer" },
  respond: ({ user_id, ...change }, services) => services.members.update(user_id, change),
});
