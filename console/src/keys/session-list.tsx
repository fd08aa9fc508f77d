// The browsers in which the member is signed in. Each session can be ended; ending the own one signs out.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { sessionsQuery } from "../api/access.ts";
import { sessionQuery } from "../api/queries.ts";
import { endSession, type Session } from "../api/session.ts";
import { formatDateTime } from "../format/time-of-day.ts";
import { Button } from "../parts/button.tsx";
import table from "../parts/data-table.module.css";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { text } from "../text/text.ts";
import styles from "./keys-page.module.css";

const COLUMNS = 5;
const words = text.keys.sessions;

export function SessionList() {
  const queryClient = useQueryClient();
  const { data: sessions = [], error, isPending, refetch } = useQuery(sessionsQuery);
  const ending = useMutation({
    mutationFn: async ({ id }: Session) => endSession(id),
    onSuccess: (_result, { is_current }) => {
      if (is_current) queryClient.setQueryData(sessionQuery.queryKey, null);
      else void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  const failure = error ?? ending.error;
  return (
    <section className={table.section}>
      <div className={table.head}>
        <h2>{words.heading}</h2>
        <p>{words.hint}</p>
      </div>
      {failure && <ErrorNotice error={failure} onRetry={() => void refetch()} />}
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">{words.columns.how}</th>
            <th scope="col" className={table.first}>
              {words.columns.started}
            </th>
            <th scope="col">{words.columns.seen}</th>
            <th scope="col" className={table.first}>
              {words.columns.until}
            </th>
            <td className={table.actions} />
          </tr>
        </thead>
        <tbody>
          {isPending && <SkeletonRows columns={COLUMNS} rows={1} />}
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} onEnd={() => ending.mutate(session)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const sessionRowWords = text.keys.sessions;

const describeMethod = ({ method, issuer }: Session): string =>
  method === "oidc" ? sessionRowWords.methods.oidc(issuer ?? "") : sessionRowWords.methods[method];

/** A session in the list. */
function SessionRow({ session, onEnd }: { session: Session; onEnd(): void }) {
  const started = formatDateTime(session.created_at);
  return (
    <tr>
      <td>
        <span className={styles.name}>
          {describeMethod(session)}
          {session.is_current && <span className={styles.tag}>{sessionRowWords.current}</span>}
        </span>
      </td>
      <td className={table.first}>{started}</td>
      <td>{formatDateTime(session.last_seen_at)}</td>
      <td className={table.first}>{formatDateTime(session.expires_at)}</td>
      <td className={table.actions}>
        <Button size="s" label={sessionRowWords.endLabel(started)} onClick={onEnd}>
          {sessionRowWords.end}
        </Button>
      </td>
    </tr>
  );
}
