// The inputs of two runs that differ. Equal ones are left out.
import type { Run } from "@gesso/client";
import { text } from "../text/text.ts";
import { differencesOf } from "./compare-items.ts";
import styles from "./compare-page.module.css";

const asText = (value: unknown) =>
  value === undefined ? text.compare.notSet : typeof value === "string" ? value : JSON.stringify(value);

/** Uploads and runs of earlier versions have no `given`. */
const inputsOf = ({ given, inputs, model }: Run) => ({ model, ...(given ?? inputs) });

export function InputDifferences({ first, second }: { first: Run; second: Run }) {
  const differences = differencesOf(inputsOf(first), inputsOf(second));
  return (
    <aside className={styles.panel}>
      <h2>{text.compare.inputs}</h2>
      {differences.length === 0 && <p>{text.compare.equal}</p>}
      <dl>
        {differences.map(({ field, first: one, second: other }) => (
          <div key={field} className={styles.field}>
            <dt>{field}</dt>
            <dd>
              <b>A</b> {asText(one)}
            </dd>
            <dd>
              <b>B</b> {asText(other)}
            </dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}
