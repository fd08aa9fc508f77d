// A session in the list.
import type { Session } from "../api/session.ts";
import { formatDateTime } from "../format/time-of-day.ts";
import { Button } from "../parts/button.tsx";
import table from "../parts/data-table.module.css";
import { text } from "../text/text.ts";
import styles from "./keys-page.module.css";

const words = text.keys.sessions;

const describeMethod = ({ method, issuer }: Session): string =>
  method === "oidc" ? words.methods.oidc(issuer ?? "") : words.methods[method];

export function SessionRow({ session, onEnd }: { session: Session; onEnd(): void }) {
  const started = formatDateTime(session.created_at);
  return (
    <tr>
      <td>
        <span className={styles.name}>
          {describeMethod(session)}
          {session.is_current && <span className={styles.tag}>{words.current}</span>}
        </span>
      </td>
      <td className={table.first}>{started}</td>
      <td>{formatDateTime(session.last_seen_at)}</td>
      <td className={table.first}>{formatDateTime(session.expires_at)}</td>
      <td className={table.actions}>
        <Button size="s" label={words.endLabel(started)} onClick={onEnd}>
          {words.end}
        </Button>
      </td>
    </tr>
  );
}
