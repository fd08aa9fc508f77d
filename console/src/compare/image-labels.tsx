// The names of both images on a scrim, A at the left and B at the right.
import type { Run } from "@gesso/client";
import { text } from "../text/text.ts";
import styles from "./compare-page.module.css";

const nameOf = ({ inputs, run_id }: Run) =>
  `${typeof inputs.prompt === "string" ? inputs.prompt : text.run.noPrompt} · ${run_id.slice(-4)}`;

export function ImageLabels({ first, second }: { first: Run; second: Run }) {
  return (
    <>
      <span className={styles.label}>
        <b>A</b> <span className="clip">{nameOf(first)}</span>
      </span>
      <span className={`${styles.label} ${styles.labelSecond}`}>
        <b>B</b> <span className="clip">{nameOf(second)}</span>
      </span>
    </>
  );
}
