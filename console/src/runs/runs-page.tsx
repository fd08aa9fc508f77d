// Runs: all runs as a table, newest first, with the filters of the gallery, and one button that cancels what waits.
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { List } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Segments } from "../parts/segments.tsx";
import { FilterButtons } from "../run-search/filter-buttons.tsx";
import { isSearching, type ListSearch } from "../run-search/list-search.ts";
import { SearchField } from "../run-search/search-field.tsx";
import { TopBar } from "../shell/top-bar.tsx";
import { text } from "../text/text.ts";
import { CancelQueued } from "./cancel-queued.tsx";
import styles from "./runs-page.module.css";
import { RunsTable } from "./runs-table.tsx";
import { STATUS_CHOICES, statusOf, useRunList } from "./use-run-list.ts";

export function RunsPage() {
  const { status: named, ...search } = useSearch({ from: "/shell/runs" });
  const status = statusOf(named);
  const navigate = useNavigate({ from: "/runs" });
  const list = useRunList(search, status);
  const { runs, error, isSuccess, hasNextPage, isFetching, refetch, fetchNextPage } = list;
  const show = (next: ListSearch, to: string | undefined = status) =>
    void navigate({ search: { ...next, ...(statusOf(to) && { status: to }) }, replace: true });
  const showMore = () => {
    if (hasNextPage && !isFetching && !error) void fetchNextPage();
  };
  const hasFilter = isSearching(search) || status !== undefined;
  return (
    <>
      <TopBar title={text.navigation.runs}>
        <SearchField
          search={search}
          onChange={show}
          onRunId={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
        />
        <FilterButtons search={search} onChange={show} />
      </TopBar>
      <div className={styles.tools}>
        <Segments
          label={text.run.state}
          isSmall
          options={STATUS_CHOICES.map((id) => ({ id, label: id === "all" ? text.runs.all : text.run.states[id] }))}
          value={status ?? "all"}
          onChange={(id) => show(search, id)}
        />
        <CancelQueued search={search} onCanceled={() => void refetch()} />
      </div>
      {error && (
        <div className={styles.notice}>
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {isSuccess && runs.length === 0 && !hasNextPage && (
        <EmptyRuns hasFilter={hasFilter} onClear={() => show({}, "all")} />
      )}
      {(runs.length > 0 || hasNextPage) && (
        <RunsTable
          key={JSON.stringify([search, status])}
          runs={runs}
          onEnd={showMore}
          foot={footOf(hasFilter, hasNextPage)}
        />
      )}
    </>
  );
}

function footOf(hasFilter: boolean, hasOlder: boolean): string {
  if (hasOlder) return text.runs.loading;
  return hasFilter ? text.gallery.endOfMatches : text.runs.end;
}

function EmptyRuns({ hasFilter, onClear }: { hasFilter: boolean; onClear(): void }) {
  const first = (
    <Link to="/" className={buttonClass({ kind: "primary" })}>
      {text.runs.emptyNext}
    </Link>
  );
  return hasFilter ? (
    <EmptyState
      icon={List}
      title={text.runs.noMatchTitle}
      action={<Button onClick={onClear}>{text.gallery.clear}</Button>}
    >
      {text.runs.noMatch}
    </EmptyState>
  ) : (
    <EmptyState icon={List} title={text.runs.empty} action={first}>
      {text.runs.emptyWords}
    </EmptyState>
  );
}
