import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOneChange } from "../../kit/rules.ts";
import { Member, personEmail, personName, role, userId } from "../../kit/shapes-access.ts";

export const updateMember = defineOperation({
  name: "members.update",
  summary: "Change a person's role, for all their keys and tokens at once (owner)",
  http: { method: "PATCH", path: "/members/:user_id", bodies: ["json"] },
  input: z.object({
    user_id: userId("The person"),
    role: role().optional(),
    name: personName().optional(),
    email: personEmail().optional(),
  }),
  rules: [atLeastOneChange("role", "name", "email")],
  output: Member,
  example: { user_id: "grace", role: "viewer" },
  answer: ({ user_id, ...change }, ask) => ask.members.update(user_id, change),
});
