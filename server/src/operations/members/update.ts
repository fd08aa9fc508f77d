import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { applyMemberChange } from "../../access/members.ts";
import { atLeastOneChange } from "../../contract/rules.ts";
import { Member, memberEmail, memberName, role, userId } from "../../contract/schemas/access.ts";
import { updateMemberRow } from "../../db/access/members.ts";
import { defineQuery } from "../define-query.ts";

export const updateMember = defineQuery({
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
  async handle(
    { user_id, ...change },
    { database, caller },
    services: Pick<AccessDependencies, "invalidateCredentials">,
  ) {
    assertNotAccessToken(caller);
    return applyMemberChange(services, await updateMemberRow(database, caller, user_id, change));
  },
});
