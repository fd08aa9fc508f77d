// How many runs are open, beside Runs in the navigation.
import { openRuns } from "../tray/tray-runs.ts";
import { useTrayRuns } from "../tray/use-tray-runs.ts";
import styles from "./navigation.module.css";

export function OpenRunCount() {
  const count = openRuns(useTrayRuns()).length;
  if (count === 0) return null;
  return (
    <span className={styles.count}>
      <span className={styles.dot} />
      {count}
    </span>
  );
}
