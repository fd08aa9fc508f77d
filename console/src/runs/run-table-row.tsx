// A run in the table. The prompt links to the run.
import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { Star } from "lucide-react";
import { formatMoney } from "../format/money.ts";
import { formatClock, formatDuration, millisecondsBetween } from "../format/time.ts";
import { Icon } from "../parts/icon.tsx";
import { RunState } from "../parts/run-state.tsx";
import { tileUrlOf } from "../parts/thumbnails.ts";
import { text } from "../text/text.ts";
import styles from "./runs-page.module.css";

const THUMBNAIL_WIDTH = 42;

/** With the year where it is not this one. */
function formatDay(iso: string): string {
  const time = new Date(iso);
  const year = time.getFullYear() === new Date().getFullYear() ? {} : ({ year: "numeric" } as const);
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}

export function RunTableRow({ run, number }: { run: Run; number: number }) {
  const [output] = run.outputs;
  const image = output && tileUrlOf(output, THUMBNAIL_WIDTH);
  const { prompt } = run.inputs;
  return (
    <tr aria-rowindex={number + 2}>
      <td>
        <Link to="/runs/$runId" params={{ runId: run.run_id }} preload={false} className={styles.run}>
          <span className={styles.thumbnail}>
            {image && <img src={image} alt="" width={THUMBNAIL_WIDTH} height={28} loading="lazy" />}
          </span>
          <span className="clip">{typeof prompt === "string" && prompt !== "" ? prompt : run.run_type}</span>
          {run.starred && (
            <span className={styles.star}>
              <Icon of={Star} size="s" />
              <span className="visually-hidden">{text.search.starred}</span>
            </span>
          )}
        </Link>
      </td>
      <td>
        <RunState status={run.status} />
      </td>
      <td>{run.model}</td>
      <td>{run.provider}</td>
      <td className="numeric">
        {formatDay(run.created_at)} {formatClock(run.created_at)}
      </td>
      <td className={styles.number}>
        {run.finished_at && formatDuration(millisecondsBetween(run.created_at, run.finished_at))}
      </td>
      <td className={styles.number}>{run.cost && formatMoney(run.cost.amount)}</td>
    </tr>
  );
}
