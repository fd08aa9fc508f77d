// The members of the tenant by user ID.
import type { Member } from "@gesso/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { membersQuery } from "../api/access.ts";
import { identityQuery } from "../api/queries.ts";
import { formatDay } from "../format/time-of-day.ts";
import { Button } from "../parts/button.tsx";
import table from "../parts/data-table.module.css";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { RowMenu } from "../parts/row-menu.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { text } from "../text/text.ts";
import type { MemberDialog } from "./member-dialogs.tsx";
import styles from "./people-page.module.css";

const COLUMNS = 5;

export function MemberList({ onAction }: { onAction(dialog: MemberDialog): void }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(membersQuery);
  const { data: identity } = useQuery(identityQuery);
  const members = data?.pages.flatMap((page) => page.data) ?? [];
  if (error) {
    return (
      <section className={table.section}>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </section>
    );
  }
  return (
    <section className={table.section}>
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">{text.people.columns.user}</th>
            <th scope="col">{text.people.columns.role}</th>
            <th scope="col" className={table.first}>
              {text.people.columns.since}
            </th>
            <th scope="col" className={table.second}>
              {text.people.columns.changed}
            </th>
            <td className={table.actions} />
          </tr>
        </thead>
        <tbody>
          {isPending && <SkeletonRows columns={COLUMNS} />}
          {members.map((member) => (
            <tr key={member.user_id}>
              <td>
                <MemberName member={member} isYou={member.user_id === identity?.user_id} />
              </td>
              <td>
                <MemberRole member={member} />
              </td>
              <td className={table.first}>{formatDay(member.created_at)}</td>
              <td className={table.second}>{formatDay(member.updated_at)}</td>
              <td className={table.actions}>
                <RowMenu
                  label={text.people.actions(member.user_id)}
                  actions={[
                    { label: text.people.edit, run: () => onAction({ kind: "edit", member }) },
                    { label: text.people.remove, run: () => onAction({ kind: "remove", member }) },
                  ]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {members.length === 1 && <p className={styles.hint}>{text.people.alone}</p>}
      {hasNextPage && (
        <div className={table.more}>
          <Button onClick={() => void fetchNextPage()}>{text.people.more}</Button>
        </div>
      )}
    </section>
  );
}

/** A member by name, with user ID and email address below. */
function MemberName({ member, isYou }: { member: Member; isYou: boolean }) {
  const { name, user_id, email } = member;
  const below = [name && user_id, email, isYou && text.people.you].filter(Boolean).join(" · ");
  return (
    <>
      <span className={table.strong}>{name ?? user_id}</span>
      {below && <span className={table.sub}>{below}</span>}
    </>
  );
}

const ROLES: Readonly<Record<string, { name: string; meaning: string }>> = text.people.roles;

/** The role of a member and what it means. A newer server can have more roles; they are shown by their name. */
function MemberRole({ member: { role, role_source } }: { member: Pick<Member, "role" | "role_source"> }) {
  const known = ROLES[role];
  return (
    <>
      {known?.name ?? role}
      {known && <span className={table.sub}>{known.meaning}</span>}
      {role_source === "identity_provider" && <span className={table.sub}>{text.people.mapped}</span>}
    </>
  );
}
