// The fields that the request set, and the result of runs whose result is no file.
import type { Run } from "@gesso/client";
import { text } from "../text/text.ts";
import { FieldList } from "./field-list.tsx";
import styles from "./inputs-tab.module.css";

export function InputsTab({ run }: { run: Run }) {
  const fields = run.given ?? run.inputs;
  const isEmpty = Object.keys(fields).length === 0;
  return (
    <>
      <p className={styles.note}>{isEmpty ? text.run.inputs.none : run.given ? text.run.inputs.given : null}</p>
      <FieldList fields={fields} />
      {run.warnings.length > 0 && (
        <>
          <h2 className={styles.note}>{text.runPage.inputs.warnings}</h2>
          <ul className={styles.warnings}>
            {run.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </>
      )}
      {run.result && (
        <>
          <h2 className={styles.note}>{text.run.inputs.result}</h2>
          <FieldList fields={run.result} />
        </>
      )}
    </>
  );
}
