// Members of the caller's tenant. The role is read with every credential, so a change applies to all keys and tokens of
// the member within five seconds.
import {
  insertMember,
  listMemberRows,
  type MemberRow,
  markMemberRemoved,
  updateMemberRow,
} from "../db/access/members.ts";
import { Fault } from "../faults.ts";
import type { AccessServices } from "../kit/access-services.ts";
import type { Member } from "../kit/schemas/access.ts";
import { assertNotAccessToken } from "./delegation.ts";
import { describeCaller } from "./identity.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";

export function createMemberStore(
  { invalidateCredentials }: { invalidateCredentials(): void },
  { database, caller, cursors }: RequestContext,
): AccessServices["members"] {
  const applyChange = (row: MemberRow | undefined): Member => {
    if (!row) throw new Fault("route_not_found");
    invalidateCredentials();
    return renderMember(row);
  };
  return {
    self: () => describeCaller({ caller, database }),
    list: (page) =>
      paginate(cursors, page, {
        scope: ["members", caller.tenant_id],
        read: (after, limit) => listMemberRows(database, caller.tenant_id, after, limit),
        cursorId: (row) => row.user_id,
        render: renderMember,
      }),
    async add({ user_id, role, name = null, email = null }) {
      assertNotAccessToken(caller);
      const row = await insertMember(database, caller, { user_id, role, name, email });
      if (!row) throw new Fault("conflict", { retryable: false, reason: "already_member" });
      return applyChange(row);
    },
    async update(userId, change) {
      assertNotAccessToken(caller);
      return applyChange(await updateMemberRow(database, caller, userId, change));
    },
    async remove(userId) {
      assertNotAccessToken(caller);
      return applyChange(await markMemberRemoved(database, caller, userId));
    },
  };
}

const renderMember = ({ created_at, updated_at, ...row }: MemberRow): Member => ({
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
