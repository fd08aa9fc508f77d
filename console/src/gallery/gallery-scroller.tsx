// Draws only the rows of the gallery that are on the screen or near it.
import type { Run } from "@gesso/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import styles from "./gallery-page.module.css";
import { GalleryRowView } from "./gallery-row-view.tsx";
import { galleryRows } from "./gallery-rows.ts";
import { useLayout } from "./use-layout.ts";

const OVERSCAN_ROWS = 4;

/** Where the reader was, for the way back from a run. */
let lastOffset = 0;

export function GalleryScroller({ runs, onEnd }: { runs: readonly Run[]; onEnd(): void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useLayout(scroller);
  const rows = useMemo(() => (layout ? galleryRows(runs, layout, new Date()) : []), [runs, layout]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rows[index]?.height ?? 0,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN_ROWS,
    initialOffset: lastOffset,
  });
  const shown = virtualizer.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows have other heights
  useEffect(() => {
    virtualizer.measure();
  }, [virtualizer, rows]);
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - 1) onEnd();
  }, [lastShown, rows.length, onEnd]);
  return (
    <section
      ref={scroller}
      className={styles.scroller}
      aria-label={text.gallery.title}
      onScroll={({ currentTarget }) => {
        lastOffset = currentTarget.scrollTop;
      }}
    >
      <div ref={cssVariables({ "--total": `${virtualizer.getTotalSize()}px` })} className={styles.rows}>
        {shown.map(({ key, index, start }) => (
          <GalleryRowView key={key} row={rows[index]!} start={start} />
        ))}
      </div>
    </section>
  );
}
