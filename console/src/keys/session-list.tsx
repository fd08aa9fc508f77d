// The browsers in which the member is signed in. Each session can be ended; ending the own one signs out.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { sessionsQuery } from "../api/access.ts";
import { sessionQuery } from "../api/queries.ts";
import { endSession, type Session } from "../api/session.ts";
import table from "../parts/data-table.module.css";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { text } from "../text/text.ts";
import { SessionRow } from "./session-row.tsx";

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
