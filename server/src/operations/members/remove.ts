import { z } from "zod";
import type { AccessDependencies } from "../../access/access-dependencies.ts";
import { assertNotAccessToken } from "../../access/delegation.ts";
import { applyMemberChange } from "../../access/members.ts";
import { Member, userId } from "../../contract/schemas/access.ts";
import { markMemberRemoved } from "../../db/access/members.ts";
import { defineQuery } from "../define-query.ts";

export const removeMember = defineQuery({
  name: "members.remove",
  summary: "Remove a member from the tenant. Their keys and tokens stop working (owner)",
  http: { method: "DELETE", path: "/members/:user_id" },
  changes: "access",
  input: z.object({ user_id: userId("User ID of the member") }),
  output: Member,
  example: { user_id: "grace" },
  async handle({ user_id }, { database, caller }, services: Pick<AccessDependencies, "invalidateCredentials">) {
    assertNotAccessToken(caller);
    return applyMemberChange(services, await markMemberRemoved(database, caller, user_id));
  },
});
