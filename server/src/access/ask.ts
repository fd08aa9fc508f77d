// What operations on tenants, people, keys and tokens may ask of this room, in the name of one caller.
import { listAudit } from "../db/audit.ts";
import type { AccessAsk } from "../kit/access.ts";
import type { Desk } from "./desk.ts";
import { keysOf } from "./keys.ts";
import { membersOf } from "./members.ts";
import { pageOf } from "./pages.ts";
import { tenantsOf } from "./tenants.ts";

export const accessAsk = (desk: Desk): AccessAsk => ({
  keys: keysOf(desk),
  mint: (wish) => desk.minted.mint(desk.caller, wish, desk.newId()),
  tenants: tenantsOf(desk),
  members: membersOf(desk),
  audit: (page) =>
    pageOf(desk.cursors, page, {
      scope: ["audit", desk.caller.tenant_id],
      read: (before, limit) =>
        listAudit(desk.db, desk.caller.tenant_id, before === undefined ? undefined : Number(before), limit),
      idOf: (row) => String(row.entry),
      show: ({ at, digest, ...row }) => ({ ...row, at: at.toISOString(), digest: digest.toString("hex") }),
    }),
});
