// A run in the table.
import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { RunState } from "../parts/run-state.tsx";
import { tileUrlOf } from "../parts/thumbnails.ts";
import styles from "./runs-page.module.css";

export function RunTableRow({ run }: { run: Run }) {
  const [output] = run.outputs;
  const image = output && tileUrlOf(output);
  return (
    <tr>
      <td>
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className={styles.run}>
          <span className={styles.thumbnail}>
            {image && <img src={image} alt="" width={42} height={28} loading="lazy" />}
          </span>
          <span className="clip">{typeof run.inputs.prompt === "string" ? run.inputs.prompt : run.run_type}</span>
        </Link>
      </td>
      <td>
        <RunState status={run.status} />
      </td>
      <td>{run.model}</td>
      <td className={styles.number}>
        {run.finished_at && formatDuration(millisecondsBetween(run.created_at, run.finished_at))}
      </td>
      <td className={styles.number}>{run.cost && formatMoney(run.cost.amount)}</td>
    </tr>
  );
}
