// What was made, newest first, in groups of runs that were started together.
import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { FirstSteps } from "./first-steps.tsx";
import { ResultGroup } from "./result-group.tsx";
import styles from "./results.module.css";
import { groupRuns } from "./run-groups.ts";

const LIMIT = 40;

export function Results({ onExample }: { onExample(prompt: string): void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["runs", "list", "recent"],
    queryFn: async () => client.runs.list({ limit: LIMIT }),
  });
  const groups = groupRuns(data?.data ?? []);
  return (
    <section className={styles.results} aria-label={text.make.results} aria-busy={!data && !error}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data && groups.length === 0 && <FirstSteps onExample={onExample} />}
      {groups.map((group) => (
        <ResultGroup key={group.id} group={group} />
      ))}
    </section>
  );
}
