import { z } from "zod";
import { defineOperation } from "../../kit/operation.ts";
import { Member, memberEmail, memberName, role, userId } from "../../kit/schemas/access.ts";

export const addMember = defineOperation({
  name: "members.add",
  summary: "Add a member to the tenant (owner)",
  http: { method: "POST", path: "/members", bodies: ["json"], status: 201 },
  changes: "access",
  input: z.object({
    user_id: userId(),
    role: role(),
    name: memberName().default(null),
    email: memberEmail().default(null),
  }),
  output: Member,
  example: { user_id: "grace", role: "developer", name: "Grace" },
  respond: (input, services) => services.members.add(input),
});
