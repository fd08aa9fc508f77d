// The runs of the table. The newest page is read again when a run appears or ends; older pages stay as they were read.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { client } from "../api/client.ts";
import { filtersOf, type ListSearch } from "../run-search/list-search.ts";
import { mergeNewest } from "./merge-newest.ts";

const RUN_STATUSES = ["queued", "processing", "completed", "failed", "canceled"] as const;
type RunStatusFilter = (typeof RUN_STATUSES)[number];
export const STATUS_CHOICES = ["all", ...RUN_STATUSES] as const;

export const statusOf = (status: string | undefined): RunStatusFilter | undefined =>
  RUN_STATUSES.find((each) => each === status);

const PAGE_SIZE = 60;

export function useRunList(search: ListSearch, status: RunStatusFilter | undefined) {
  const filters = { ...filtersOf(search), ...(status && { status }), limit: PAGE_SIZE };
  const list = useInfiniteQuery({
    queryKey: ["run-table", search, status ?? ""],
    queryFn: async ({ pageParam }) => client.runs.list({ ...filters, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const newest = useQuery({
    queryKey: ["runs", "list", "table", search, status ?? ""],
    queryFn: async () => client.runs.list(filters),
  });
  const pages = list.data?.pages;
  const runs = useMemo(() => {
    const listed = pages?.flatMap(({ data }) => data) ?? [];
    if (!newest.data) return listed;
    return newest.data.next_cursor === null ? newest.data.data : mergeNewest(newest.data.data, listed);
  }, [pages, newest.data]);
  const first = pages?.[0]?.data[0]?.run_id;
  const lastOfNewest = newest.data?.data.at(-1)?.run_id;
  const hasGap = first !== undefined && lastOfNewest !== undefined && lastOfNewest > first;
  const { refetch } = list;
  useEffect(() => {
    // More runs than one page have appeared since the list was read.
    if (hasGap) void refetch();
  }, [hasGap, refetch]);
  return { ...list, runs, error: list.error ?? newest.error };
}
