// How high the rows of the gallery are.
import { text } from "../text/text.ts";
import styles from "./gallery-page.module.css";
import { ROW_HEIGHTS } from "./use-layout.ts";

export function RowHeight({ value, onChange }: { value: number; onChange(height: number): void }) {
  return (
    <input
      type="range"
      className={styles.rowHeight}
      aria-label={text.gallery.rowHeight}
      min={ROW_HEIGHTS.least}
      max={ROW_HEIGHTS.most}
      step={20}
      value={value}
      onChange={(event) => onChange(Number(event.target.value))}
    />
  );
}
