// Draws only the rows near the screen, and keeps what the reader sees in its place: rows that arrive above it do not
// move it, and the way back from a run leads to the same place.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { GalleryRow } from "./gallery-rows.ts";
import { rowAt, startsOf } from "./row-starts.ts";

const OVERSCAN_ROWS = 3;

/** Where the reader was in each list, for the way back from a run. */
const lastOffsets = new Map<string, number>();

type Place = { listKey: string; row: string; distance: number };

export function useRowsInView(scroller: RefObject<HTMLElement | null>, rows: readonly GalleryRow[], listKey: string) {
  const starts = useMemo(() => startsOf(rows), [rows]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rows[index]?.height ?? 0,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN_ROWS,
    initialOffset: lastOffsets.get(listKey) ?? 0,
  });
  const { measure } = virtualizer;
  const known = useRef<Place>(undefined);
  const remember = useCallback(() => {
    const top = scroller.current?.scrollTop ?? 0;
    const index = rowAt(starts, top);
    const row = rows[index];
    if (!row) return;
    lastOffsets.set(listKey, top);
    known.current = { listKey, row: row.key, distance: top - starts[index]! };
  }, [scroller, rows, starts, listKey]);
  useLayoutEffect(() => {
    measure();
    const element = scroller.current;
    if (!element || rows.length === 0) return;
    const top = offsetOf(known.current, listKey, rows, starts);
    if (top !== undefined && Math.abs(top - element.scrollTop) >= 1) element.scrollTop = top;
    remember();
  }, [measure, scroller, rows, starts, listKey, remember]);
  useEffect(() => {
    const element = scroller.current;
    element?.addEventListener("scroll", remember, { passive: true });
    return () => element?.removeEventListener("scroll", remember);
  }, [scroller, remember]);
  const topIndex = rowAt(starts, virtualizer.scrollOffset ?? 0);
  return { virtualizer, top: rows[topIndex] };
}

/** Undefined if the row in view is gone: then the offset stays. */
function offsetOf(known: Place | undefined, listKey: string, rows: readonly GalleryRow[], starts: readonly number[]) {
  if (known?.listKey !== listKey) return lastOffsets.get(listKey) ?? 0;
  const index = rows.findIndex(({ key }) => key === known.row);
  return index < 0 ? undefined : starts[index]! + known.distance;
}
