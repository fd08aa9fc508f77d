// What operations on tenants, people, keys and tokens may ask of this room, in the name of one caller.
import { listAuditEntries } from "../db/access/audit-log.ts";
import type { AccessServices } from "../kit/access-services.ts";
import { createKeyStore } from "./keys.ts";
import { createMemberStore } from "./members.ts";
import { paginate } from "./pagination.ts";
import type { RequestContext } from "./request-context.ts";
import { createTenantStore } from "./tenants.ts";

export const accessAsk = (desk: RequestContext): AccessServices => ({
  keys: createKeyStore(desk),
  issueToken: (wish) => desk.minted.issue(desk.caller, wish, desk.newId()),
  tenants: createTenantStore(desk),
  members: createMemberStore(desk),
  audit: (page) =>
    paginate(desk.cursors, page, {
      scope: ["audit", desk.caller.tenant_id],
      read: (before, limit) =>
        listAuditEntries(desk.db, desk.caller.tenant_id, before === undefined ? undefined : Number(before), limit),
      cursorId: (row) => String(row.entry),
      show: ({ at, digest, ...row }) => ({ ...row, at: at.toISOString(), digest: digest.toString("hex") }),
    }),
});
