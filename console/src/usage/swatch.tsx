// The colour of a group in the chart, beside its name.
import { classNames } from "../parts/class-names.ts";
import styles from "./usage-chart.module.css";

const LAST_SERIES = 4;

export function Swatch({ series }: { series: number }) {
  return <span className={classNames(styles.swatch, styles[`series${Math.min(series, LAST_SERIES)}`])} />;
}
