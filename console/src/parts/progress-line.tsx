// Progress of a run from 0 to 1, as a line.
import { cssVariables } from "./css-variables.ts";
import styles from "./progress-line.module.css";

type ProgressLineProps = { value: number; label: string };

export function ProgressLine({ value, label }: ProgressLineProps) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <span
      className={styles.line}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <span ref={cssVariables({ "--v": `${percent}%` })} className={styles.done} />
    </span>
  );
}
