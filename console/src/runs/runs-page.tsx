// Runs: all runs as a table, newest first, with their state, model, time and cost.
import { List } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Segments } from "../parts/segments.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import styles from "./runs-page.module.css";
import { RunsTable } from "./runs-table.tsx";
import { RUN_FILTERS, type RunFilter, useRunList } from "./use-run-list.ts";

export function RunsPage() {
  const [filter, setFilter] = useState<RunFilter>("all");
  const { data, error, isSuccess, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useRunList(filter);
  const runs = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <TopBar title={text.navigation.runs}>
        <Segments
          label={text.run.state}
          isSmall
          options={RUN_FILTERS.map((id) => ({ id, label: id === "all" ? text.runs.all : text.run.states[id] }))}
          value={filter}
          onChange={(id) => setFilter(RUN_FILTERS.find((each) => each === id) ?? "all")}
        />
      </TopBar>
      <div className={styles.body}>
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {isSuccess && runs.length === 0 && (
          <EmptyState icon={List} title={filter === "all" ? text.runs.empty : text.gallery.noMatch} />
        )}
        {runs.length > 0 && <RunsTable runs={runs} />}
        {hasNextPage && (
          <Button aria-disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {text.runs.more}
          </Button>
        )}
      </div>
    </>
  );
}
