// The state of the gallery: its rows, the selection, the month in view, and what keys and buttons do.
import type { Run } from "@gesso/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { isSearching, type ListSearch } from "../run-search/list-search.ts";
import { text } from "../text/text.ts";
import { focusTile, keyOfTile } from "./focus-tile.ts";
import { createRowBuilder, type GalleryRow } from "./gallery-rows.ts";
import { useChangeRuns } from "./use-change-runs.ts";
import { useDeletion } from "./use-deletion.ts";
import { GALLERY_KEY, useGalleryRuns } from "./use-gallery-runs.ts";
import { useLayout } from "./use-layout.ts";
import { useMonths } from "./use-months.ts";

type GalleryOptions = {
  scroller: RefObject<HTMLDivElement | null>;
  search: ListSearch;
  at: string | undefined;
  rowHeight: number;
};

/** The tile that had the focus, for the way back from a run. */
let lastTile: string | undefined;

export function useGallery({ scroller, search, at, rowHeight }: GalleryOptions) {
  const queryClient = useQueryClient();
  const navigate = useNavigate({ from: "/gallery" });
  const list = useGalleryRuns(search, at);
  const { layout, rows } = useGalleryRows(scroller, list.runs, list.hasNextPage, rowHeight);
  const changes = useChangeRuns();
  const selection = useSelection(list.runs, changes.mark.mutate);
  const deleting = useDeletion({ scroller, rows, remove: changes.remove, onDeleted: selection.clear });
  const show = (to: string | undefined) =>
    void navigate({ search: { ...search, ...(to && { at: to }) }, replace: true });
  const { onDate, slider } = useMonths({ scroller, rows, search, onShow: show });
  const tiles = useTileActions(selection);
  useFocusOfLastTile(scroller, rows);

  const onKey = (event: KeyboardEvent) => {
    const key = keyOfTile(event.target);
    const run = key && list.runs.find(({ run_id }) => key.startsWith(run_id));
    if (event.key === "Escape") selection.clear();
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ".") selection.star(run);
    if (event.key === "x") selection.toggle(run);
    if (event.key.toLowerCase() === "c") selection.compare();
    if (event.key === "Delete") deleting.ask(selection.runs.length > 0 ? selection.runs : [run]);
  };
  const onShowNew = () => {
    scroller.current?.scrollTo(0, 0);
    show(undefined);
    void queryClient.resetQueries({ queryKey: GALLERY_KEY });
  };
  const { hasNextPage, isFetchingNextPage, newCount, refetch } = list;
  return {
    ...{ rows, newCount, onShowNew, monthSlider: slider, deletion: deleting.deletion },
    error: list.error ?? changes.mark.error,
    isEmpty: list.isSuccess && rows.length === 0 && !hasNextPage && layout !== undefined,
    onRetry: () => void refetch(),
    scrolling: {
      ...{ layout, onKey, onDate, selected: selection.ids, ...tiles, ...useLoading(list) },
      listKey: JSON.stringify([search, at]),
      foot: footOf(rows, isSearching(search), hasNextPage, isFetchingNextPage),
    },
    selection: {
      runs: selection.runs,
      actions: { ...selection.actions, onDelete: () => deleting.ask(selection.runs) },
    },
  };
}

const NO_ROWS: GalleryRow[] = [];

function useGalleryRows(
  scroller: RefObject<HTMLElement | null>,
  runs: readonly Run[],
  hasOlder: boolean,
  rowHeight: number,
) {
  const layout = useLayout(scroller, rowHeight);
  const [buildRows] = useState(createRowBuilder);
  const rows = useMemo(
    () => (layout ? buildRows(runs, layout, hasOlder) : NO_ROWS),
    [buildRows, runs, layout, hasOlder],
  );
  return { layout, rows };
}

/** Loads more at both ends, one page at a time. After an error the reader decides. */
function useLoading({
  hasNextPage,
  hasPreviousPage,
  isFetching,
  error,
  fetchNextPage,
  fetchPreviousPage,
}: ReturnType<typeof useGalleryRuns>) {
  const canLoad = !isFetching && !error;
  const onOlder = useCallback(() => {
    if (hasNextPage && canLoad) void fetchNextPage();
  }, [hasNextPage, canLoad, fetchNextPage]);
  const onNewer = useCallback(() => {
    if (hasPreviousPage && canLoad) void fetchPreviousPage();
  }, [hasPreviousPage, canLoad, fetchPreviousPage]);
  return { onOlder, onNewer };
}

function useTileActions({ star, toggle }: ReturnType<typeof useSelection>) {
  const [current, setCurrent] = useState(lastTile);
  const tileActions = useMemo(
    () => ({
      onSelect: toggle,
      onStar: star,
      onFocus: (key: string) => {
        lastTile = key;
        setCurrent(key);
      },
    }),
    [toggle, star],
  );
  return { current, tileActions };
}

function footOf(rows: readonly GalleryRow[], isSearch: boolean, hasOlder: boolean, isLoading: boolean): string {
  if (hasOlder) return isLoading ? text.gallery.loading : "";
  if (rows.length === 0) return "";
  return isSearch ? text.gallery.endOfMatches : text.gallery.end;
}

/** Back from a run, the tile that led to it has the focus again. */
function useFocusOfLastTile(scroller: RefObject<HTMLElement | null>, rows: readonly GalleryRow[]): void {
  const isDone = useRef(lastTile === undefined);
  useEffect(() => {
    if (isDone.current || rows.length === 0 || !lastTile) return;
    isDone.current = focusTile(scroller.current, lastTile);
  });
}

type Mark = (change: { runs: readonly Run[]; starred?: boolean; tag?: string }) => void;

/** The runs that are selected in the gallery. */
function useSelection(runs: readonly Run[], mark: Mark) {
  const navigate = useNavigate();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  // Runs of the list, so that their stars and tags are those of now.
  const selected = useMemo(() => (ids.size === 0 ? [] : runs.filter(({ run_id }) => ids.has(run_id))), [runs, ids]);
  const toggle = useCallback(({ run_id }: Run) => {
    setIds((known) => {
      const next = new Set(known);
      if (!next.delete(run_id)) next.add(run_id);
      return next;
    });
  }, []);
  const clear = useCallback(() => setIds(new Set()), []);
  const star = useCallback((run: Run) => mark({ runs: [run], starred: !run.starred }), [mark]);
  const compare = () => {
    // The older run first: it is the one before the change.
    const items = selected.map(({ run_id }) => run_id).reverse();
    if (items.length === 2) void navigate({ to: "/compare", search: { items: items.join(",") } });
  };
  return {
    ...{ ids, runs: selected, toggle, clear, star, compare },
    actions: {
      onCompare: compare,
      onStar: (starred: boolean) => mark({ runs: selected, starred }),
      onTag: (tag: string) => mark({ runs: selected, tag }),
      onDownload: () => downloadRuns(selected),
      onClear: clear,
    },
  };
}

/** Downloads the files of runs, one after the other. */
function downloadRuns(runs: readonly Run[]): void {
  for (const { run_id, outputs } of runs)
    for (const { url } of outputs.filter(({ role }) => role === "result")) {
      const link = document.createElement("a");
      link.href = url;
      link.download = run_id;
      link.click();
    }
}
