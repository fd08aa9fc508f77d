// An entry of the audit log: when, who, what, and what changed.
import type { AuditEntry } from "@gesso/client";
import { formatDateTime } from "../format/time-of-day.ts";
import table from "../parts/data-table.module.css";
import { text } from "../text/text.ts";
import { detailsOf } from "./audit-details.ts";
import styles from "./people-page.module.css";

export function AuditRow({ entry }: { entry: AuditEntry }) {
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
