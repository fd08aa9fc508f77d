// The runs of the gallery, page by page. New runs do not change the list: the page offers to show them, so that nothing
// moves under the reader's eyes.
import { useInfiniteQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import { useTrayRuns } from "../tray/use-tray-runs.ts";

const PAGE_SIZE = 60;

export function useGalleryRuns() {
  const query = useInfiniteQuery({
    queryKey: ["gallery"],
    queryFn: async ({ pageParam }) =>
      client.runs.list({ status: "completed", limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const runs = query.data?.pages.flatMap(({ data }) => data) ?? [];
  const newest = runs[0]?.created_at ?? "";
  const trayRuns = Object.values(useTrayRuns());
  const newRuns = trayRuns.filter(
    ({ run_id, status, created_at }) =>
      status === "completed" && created_at > newest && !runs.some((run) => run.run_id === run_id),
  );
  return { ...query, runs, newCount: query.isSuccess ? newRuns.length : 0 };
}
