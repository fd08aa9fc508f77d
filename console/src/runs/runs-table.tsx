// The table of runs. The prompt links to the run.
import type { Run } from "@gesso/client";
import { text } from "../text/text.ts";
import { RunTableRow } from "./run-table-row.tsx";
import styles from "./runs-page.module.css";

export function RunsTable({ runs }: { runs: readonly Run[] }) {
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">{text.run.title}</th>
          <th scope="col">{text.run.state}</th>
          <th scope="col">{text.run.model}</th>
          <th scope="col" className={styles.number}>
            {text.run.time}
          </th>
          <th scope="col" className={styles.number}>
            {text.run.cost}
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunTableRow key={run.run_id} run={run} />
        ))}
      </tbody>
    </table>
  );
}
