// The people of the caller's tenant. Roles are looked up with every credential, so a change holds for all keys and tokens
// of a person within five seconds.
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
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";

export function createMemberStore({ db, caller, cursors, keys }: RequestContext): AccessServices["members"] {
  const changed = (row: MemberRow | undefined): Member => {
    if (!row) throw new Fault("route_not_found");
    keys.forget();
    return renderMember(row);
  };
  return {
    list: (page) =>
      paginate(cursors, page, {
        scope: ["members", caller.tenant_id],
        read: (after, limit) => listMemberRows(db, caller.tenant_id, after, limit),
        cursorId: (row) => row.user_id,
        show: renderMember,
      }),
    async add({ user_id, role, name = null, email = null }) {
      assertNotAccessToken(caller);
      const row = await insertMember(db, caller, { user_id, role, name, email });
      if (!row) throw new Fault("conflict", { retryable: false, reason: "already_member" });
      return changed(row);
    },
    async update(userId, change) {
      assertNotAccessToken(caller);
      return changed(await updateMemberRow(db, caller, userId, change));
    },
    async remove(userId) {
      assertNotAccessToken(caller);
      return changed(await markMemberRemoved(db, caller, userId));
    },
  };
}

const renderMember = ({ created_at, updated_at, ...row }: MemberRow): Member => ({
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
