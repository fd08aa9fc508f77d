import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { applyMemberChange } from "../../access/members.ts";
import { Member, memberEmail, memberName, role, userId } from "../../contract/schemas/access.ts";
import { insertMember } from "../../db/access/members.ts";
import { Fault } from "../../faults/faults.ts";
import { defineQuery } from "../define-query.ts";

export const addMember = defineQuery({
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
  async handle(
    { user_id, role, name, email },
    { database, caller },
    services: Pick<AccessDependencies, "invalidateCredentials">,
  ) {
    assertNotAccessToken(caller);
    const row = await insertMember(database, caller, { user_id, role, name, email });
    if (!row) throw new Fault("conflict", { retryable: false, reason: "already_member" });
    return applyMemberChange(services, row);
  },
});
