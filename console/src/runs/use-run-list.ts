// The runs of the table, page by page. The list is read again when a run appears or ends.
import { useInfiniteQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";

export const RUN_FILTERS = ["all", "queued", "processing", "completed", "failed", "canceled"] as const;
export type RunFilter = (typeof RUN_FILTERS)[number];

const PAGE_SIZE = 50;

export const useRunList = (filter: RunFilter) =>
  useInfiniteQuery({
    queryKey: ["runs", "list", "table", filter],
    queryFn: async ({ pageParam }) =>
      client.runs.list({
        limit: PAGE_SIZE,
        ...(filter !== "all" && { status: filter }),
        ...(pageParam && { cursor: pageParam }),
      }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
