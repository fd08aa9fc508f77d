// A row of the gallery at its place: the heading of a day, or tiles.
import { cssVariables } from "../parts/css-variables.ts";
import { RunTile } from "../parts/run-tile.tsx";
import { DayHeading } from "./day-heading.tsx";
import styles from "./gallery-page.module.css";
import type { GalleryRow } from "./gallery-rows.ts";

type GalleryRowViewProps = { row: GalleryRow; start: number };

export function GalleryRowView({ row, start }: GalleryRowViewProps) {
  return (
    <div ref={cssVariables({ "--y": `${start}px`, "--h": `${row.height}px` })} className={styles.row}>
      {row.kind === "day" ? (
        <DayHeading day={row} />
      ) : (
        row.tiles.map(({ run, index, width }) => (
          <div key={`${run.run_id} ${index}`} ref={cssVariables({ "--w": `${width}px` })} className={styles.tile}>
            <RunTile run={run} index={index} />
          </div>
        ))
      )}
    </div>
  );
}
