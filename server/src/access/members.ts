// Members of the caller's tenant. The role is read with every credential, so a change applies to all keys and tokens of
// the member within five seconds.

import type { Member } from "../contract/schemas/access.ts";
import type { MemberRow } from "../db/access/members.ts";
import { Fault } from "../faults/faults.ts";
import type { AccessDependencies } from "./access-dependencies.ts";

/** Makes a change of a member effective in this process. `row` is undefined if there is no such member. */
export function applyMemberChange(
  { invalidateCredentials }: Pick<AccessDependencies, "invalidateCredentials">,
  row: MemberRow | undefined,
): Member {
  if (!row) throw new Fault("route_not_found");
  invalidateCredentials();
  return renderMember(row);
}

export const renderMember = ({ is_role_mapped, created_at, updated_at, ...row }: MemberRow): Member => ({
  ...row,
  role_source: is_role_mapped ? "identity_provider" : "gesso",
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
