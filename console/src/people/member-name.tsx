// A member by name, with user ID and email address below.
import type { Member } from "@gesso/client";
import table from "../parts/data-table.module.css";
import { text } from "../text/text.ts";

export function MemberName({ member, isYou }: { member: Member; isYou: boolean }) {
  const { name, user_id, email } = member;
  const below = [name && user_id, email, isYou && text.people.you].filter(Boolean).join(" · ");
  return (
    <>
      <span className={table.strong}>{name ?? user_id}</span>
      {below && <span className={table.sub}>{below}</span>}
    </>
  );
}
