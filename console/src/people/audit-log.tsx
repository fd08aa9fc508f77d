// The audit log of the tenant, newest first. Owners only.
import { type AuditEntry, GessoError } from "@gesso/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { auditQuery } from "../api/access.ts";
import { formatDateTime } from "../format/time-of-day.ts";
import { Button } from "../parts/button.tsx";
import table from "../parts/data-table.module.css";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { text } from "../text/text.ts";
import { detailsOf } from "./audit-details.ts";
import styles from "./people-page.module.css";

const COLUMNS = 5;
const isForbidden = (error: unknown) => GessoError.isInstance(error) && error.status === 403;

export function AuditLog() {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(auditQuery);
  const entries = data?.pages.flatMap((page) => page.data) ?? [];
  const words = text.people.audit;
  if (isForbidden(error)) return <EmptyState icon={ScrollText} title={words.ownersOnly} />;
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
            <th scope="col" className={styles.time}>
              {words.columns.time}
            </th>
            <th scope="col" className={table.first}>
              {words.columns.user}
            </th>
            <th scope="col">{words.columns.action}</th>
            <th scope="col" className={table.first}>
              {words.columns.subject}
            </th>
            <th scope="col" className={table.second}>
              {words.columns.details}
            </th>
          </tr>
        </thead>
        <tbody>
          {isPending && <SkeletonRows columns={COLUMNS} rows={8} />}
          {entries.map((entry) => (
            <AuditRow key={entry.entry} entry={entry} />
          ))}
        </tbody>
      </table>
      {data && entries.length === 0 && <EmptyState icon={ScrollText} title={words.empty} />}
      {hasNextPage && (
        <div className={table.more}>
          <Button onClick={() => void fetchNextPage()}>{text.people.more}</Button>
        </div>
      )}
    </section>
  );
}

/** An entry of the audit log: when, who, what, and what changed. */
function AuditRow({ entry }: { entry: AuditEntry }) {
  const details = detailsOf(entry.details);
  return (
    <tr>
      <td>
        {formatDateTime(entry.at)}
        <span className={table.sub}>{text.people.audit.entry(entry.entry)}</span>
      </td>
      <td className={table.first}>{entry.user_id}</td>
      <td>
        <span className={table.strong}>{entry.action}</span>
        <span className={table.narrow}>
          {entry.user_id} · {entry.subject}
        </span>
      </td>
      <td className={table.first}>
        <span className="mono">{entry.subject}</span>
      </td>
      <td className={table.second}>
        <dl className={styles.details}>
          {details.map(({ name, value }) => (
            <div key={name} className={styles.detail}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </td>
    </tr>
  );
}
