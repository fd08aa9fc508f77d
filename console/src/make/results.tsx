// What was made, newest first, in groups of runs that were started together.
import { useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { text } from "../text/text.ts";
import { FirstSteps } from "./first-steps.tsx";
import { recentRunsQuery } from "./recent-runs.ts";
import { ResultGroup } from "./result-group.tsx";
import styles from "./results.module.css";
import { groupRuns } from "./run-groups.ts";

export const Results = memo(function Results({ onExample }: { onExample(prompt: string): void }) {
  const { data, error, refetch } = useQuery(recentRunsQuery);
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
});
