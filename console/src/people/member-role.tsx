// The role of a member and what it means. A newer server can have more roles; they are shown by their name.
import type { Member } from "@gesso/client";
import table from "../parts/data-table.module.css";
import { text } from "../text/text.ts";

const ROLES: Readonly<Record<string, { name: string; meaning: string }>> = text.people.roles;

export function MemberRole({ role }: Pick<Member, "role">) {
  const known = ROLES[role];
  return (
    <>
      {known?.name ?? role}
      {known && <span className={table.sub}>{known.meaning}</span>}
    </>
  );
}
