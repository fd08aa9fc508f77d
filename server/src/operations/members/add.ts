import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Member, personEmail, personName, role, userId } from "../../kit/shapes-access.ts";

export const addMember = defineOperation({
  name: "members.add",
  summary: "Take a person into the tenant (owner)",
  http: { method: "POST", path: "/members", bodies: ["json"], status: 201 },
  input: z.object({
    user_id: userId(),
    role: role(),
    name: personName().default(null),
    email: personEmail().default(null),
  }),
  output: Member,
  example: { user_id: "grace", role: "developer", name: "Grace" },
  answer: (input, ask) => ask.members.add(input),
});
