// The people of the caller's tenant. Roles are looked up with every credential, so a change holds for all keys and tokens
// of a person within five seconds.
import { addMember, changeMember, listMembers, type MemberRow, removeMember } from "../db/members.ts";
import { Fault } from "../faults.ts";
import type { AccessAsk } from "../kit/access.ts";
import type { Member } from "../kit/shapes-access.ts";
import type { Desk } from "./desk.ts";
import { pageOf } from "./pages.ts";
import { refuseTokens } from "./rights.ts";

export function membersOf({ db, caller, cursors, keys }: Desk): AccessAsk["members"] {
  const changed = (row: MemberRow | undefined): Member => {
    if (!row) throw new Fault("route_not_found");
    keys.forget();
    return showMember(row);
  };
  return {
    list: (page) =>
      pageOf(cursors, page, {
        scope: ["members", caller.tenant_id],
        read: (after, limit) => listMembers(db, caller.tenant_id, after, limit),
        idOf: (row) => row.user_id,
        show: showMember,
      }),
    async add({ user_id, role, name = null, email = null }) {
      refuseTokens(caller);
      const row = await addMember(db, caller, { user_id, role, name, email });
      if (!row) throw new Fault("conflict", { retryable: false, reason: "already_member" });
      return changed(row);
    },
    async update(userId, change) {
      refuseTokens(caller);
      return changed(await changeMember(db, caller, userId, change));
    },
    async remove(userId) {
      refuseTokens(caller);
      return changed(await removeMember(db, caller, userId));
    },
  };
}

const showMember = ({ created_at, updated_at, ...row }: MemberRow): Member => ({
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});
