// The runs of the gallery, page by page in both directions. New runs do not change the list: the page offers to show
// them, so that nothing moves under the reader's eyes.
import type { Run } from "@gesso/client";
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ListSearch } from "../run-search/list-search.ts";
import type { TrayRun } from "../tray/tray-runs.ts";
import { useTrayRuns } from "../tray/use-tray-runs.ts";
import { endOfPeriod, type GalleryPage, type GalleryPageParam, readGalleryPage } from "./gallery-pages.ts";

const KEPT_MS = 30 * 60_000;
export const GALLERY_KEY = ["gallery"];

export type GalleryData = InfiniteData<GalleryPage, GalleryPageParam>;

export function useGalleryRuns(search: ListSearch, at: string | undefined) {
  const query = useInfiniteQuery({
    queryKey: [...GALLERY_KEY, search, at ?? ""],
    queryFn: ({ pageParam }) => readGalleryPage(search, pageParam),
    initialPageParam: { before: endOfPeriod(at) } as GalleryPageParam,
    getNextPageParam: ({ older }): GalleryPageParam | undefined => older ?? undefined,
    getPreviousPageParam: ({ before }): GalleryPageParam | undefined =>
      before === null ? undefined : { newerThan: before },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
  });
  const pages = query.data?.pages;
  const runs = useMemo(() => pages?.flatMap((page) => page.runs) ?? [], [pages]);
  return { ...query, runs, newCount: useNewRuns(runs, search) };
}

/** Completed runs that the list does not have yet. The list is in the order of IDs, which need not be that of times. */
function useNewRuns(runs: readonly Run[], search: ListSearch): number {
  const trayRuns = useTrayRuns();
  return useMemo(() => {
    const newest = runs[0]?.run_id ?? "";
    const isNew = (run: TrayRun) =>
      run.status === "completed" && run.run_id > newest && run.image_url !== null && matches(run, search);
    return runs.length === 0 ? 0 : Object.values(trayRuns).filter(isNew).length;
  }, [runs, trayRuns, search]);
}

/** Whether a run fits the search by what an event says about it. Other filters are not known. */
function matches(
  { prompt, model, run_type }: TrayRun,
  { q, model: wanted, type, after, ...other }: ListSearch,
): boolean {
  const words = (q ?? "").toLowerCase().split(/\s+/);
  return (
    Object.keys(other).length === 0 &&
    (wanted === undefined || wanted === model) &&
    (type === undefined || type === run_type) &&
    words.every((word) => (prompt ?? "").toLowerCase().includes(word))
  );
}
