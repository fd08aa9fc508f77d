// The table of runs. Only the rows near the screen are drawn; the space of the others is kept above and below them.
import type { Run } from "@gesso/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import { RunTableRow } from "./run-table-row.tsx";
import styles from "./runs-page.module.css";

const ROW_HEIGHT = 40;
const OVERSCAN_ROWS = 12;

/** Where the reader was, for the way back from a run. */
let lastOffset = 0;

type RunsTableProps = { runs: readonly Run[]; foot: string; onEnd(): void };

export function RunsTable({ runs, foot, onEnd }: RunsTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: (index) => runs[index]?.run_id ?? index,
    overscan: OVERSCAN_ROWS,
    initialOffset: lastOffset,
  });
  const shown = virtualizer.getVirtualItems();
  const [above, below] = [shown[0]?.start ?? 0, virtualizer.getTotalSize() - (shown.at(-1)?.end ?? 0)];
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= runs.length - OVERSCAN_ROWS - 1) onEnd();
  });
  return (
    <div
      ref={scroller}
      className={styles.body}
      onScroll={({ currentTarget }) => {
        lastOffset = currentTarget.scrollTop;
      }}
    >
      <table className={styles.table} aria-rowcount={-1}>
        <thead>
          <tr>
            <th scope="col">{text.run.title}</th>
            <th scope="col">{text.run.state}</th>
            <th scope="col">{text.run.model}</th>
            <th scope="col">{text.runs.provider}</th>
            <th scope="col">{text.runs.created}</th>
            <th scope="col" className={styles.number}>
              {text.run.time}
            </th>
            <th scope="col" className={styles.number}>
              {text.run.cost}
            </th>
          </tr>
        </thead>
        <tbody ref={cssVariables({ "--above": `${above}px`, "--below": `${Math.max(0, below)}px` })}>
          <tr className={styles.above} />
          {shown.map(({ key, index }) => runs[index] && <RunTableRow key={key} run={runs[index]} number={index} />)}
          <tr className={styles.below} />
        </tbody>
      </table>
      <p className={styles.foot}>{foot}</p>
    </div>
  );
}
