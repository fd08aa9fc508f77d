// The keys, newest first. Keys that are not in force are shown on demand.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { keysQuery } from "../api/access.ts";
import { identityQuery, sessionQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import table from "../parts/data-table.module.css";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Segments } from "../parts/segments.tsx";
import { SkeletonRows } from "../parts/skeleton-rows.tsx";
import { text } from "../text/text.ts";
import type { KeyDialog } from "./key-dialogs.tsx";
import { isInForce } from "./key-facts.ts";
import { KeyRow } from "./key-row.tsx";
import { KeyTableHead } from "./key-table-head.tsx";

const COLUMNS = 7;
type Filter = keyof typeof text.keys.filters;

export function KeyList({ onAction }: { onAction(dialog: KeyDialog): void }) {
  const [filter, setFilter] = useState<Filter>("active");
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(keysQuery);
  const { data: session } = useQuery(sessionQuery);
  const { data: identity } = useQuery(identityQuery);
  const now = Date.now();
  const all = data?.pages.flatMap((page) => page.data) ?? [];
  const shown = filter === "all" ? all : all.filter((key) => isInForce(key, now));
  const isOwner = identity?.role === "owner";
  return (
    <section className={table.section}>
      <div className={table.head}>
        <h2>{text.keys.heading}</h2>
        <span className={table.end}>
          <Segments
            label={text.keys.filter}
            isSmall
            options={Object.entries(text.keys.filters).map(([id, label]) => ({ id, label }))}
            value={filter}
            onChange={(id) => setFilter(id as Filter)}
          />
        </span>
      </div>
      {error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <table className={table.table}>
          <KeyTableHead isOwnerShown={isOwner} />
          <tbody>
            {isPending && <SkeletonRows columns={COLUMNS} />}
            {shown.map((key) => (
              <KeyRow
                key={key.id}
                apiKey={key}
                now={now}
                isOwnerShown={isOwner}
                isOwn={key.id === session?.key_id}
                onAction={onAction}
              />
            ))}
          </tbody>
        </table>
      )}
      {data && shown.length === 0 && (
        <EmptyState icon={KeyRound} title={text.keys.empty}>
          {text.keys.emptyNext}
        </EmptyState>
      )}
      {hasNextPage && (
        <div className={table.more}>
          <Button onClick={() => void fetchNextPage()}>{text.keys.more}</Button>
        </div>
      )}
    </section>
  );
}
