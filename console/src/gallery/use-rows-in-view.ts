// Draws only the rows near the screen, and keeps what the reader sees in its place: rows that arrive above it do not
// move it, and the way back from a run leads to the same place.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
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
    // Rows beside the screen are drawn ahead, so drawing can wait for the next frame.
    useFlushSync: false,
    initialOffset: lastOffsets.get(listKey) ?? 0,
  });
  const known = useRef<Place>(undefined);
  const [top, setTop] = useState<GalleryRow>();
  const remember = useCallback(() => {
    // Not the offset of the element: reading it after a change would lay the page out at once.
    const offset = virtualizer.scrollOffset ?? 0;
    const index = rowAt(starts, offset);
    const row = rows[index];
    if (!row) return;
    lastOffsets.set(listKey, offset);
    known.current = { listKey, row: row.key, distance: offset - starts[index]! };
    setTop(row);
  }, [virtualizer, rows, starts, listKey]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || rows.length === 0) return;
    // Before the first rows are placed, the virtualizer has the offset of an earlier visit, and the element none.
    const shown = known.current ? (virtualizer.scrollOffset ?? 0) : element.scrollTop;
    const offset = offsetOf(known.current, listKey, rows, starts);
    if (offset !== undefined && Math.abs(offset - shown) >= 1) {
      element.scrollTop = offset;
      // Otherwise the rows of the old place would be drawn for one frame.
      virtualizer.scrollOffset = element.scrollTop;
    }
    virtualizer.measure();
    remember();
  }, [virtualizer, scroller, rows, starts, listKey, remember]);
  useEffect(() => {
    const element = scroller.current;
    element?.addEventListener("scroll", remember, { passive: true });
    return () => element?.removeEventListener("scroll", remember);
  }, [scroller, remember]);
  return { virtualizer, top };
}

/** Undefined if the row in view is gone: then the offset stays. */
function offsetOf(known: Place | undefined, listKey: string, rows: readonly GalleryRow[], starts: readonly number[]) {
  if (known?.listKey !== listKey) return lastOffsets.get(listKey) ?? 0;
  const index = rows.findIndex(({ key }) => key === known.row);
  return index < 0 ? undefined : starts[index]! + known.distance;
}
