// Runs that were started together: their prompt, what they cost, and a tile for every file.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Columns2 } from "lucide-react";
import { runQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { formatClock } from "../format/time.ts";
import { OPERATION_FORMS } from "../forms/operation-forms.ts";
import { findFormOfRun } from "../forms/operation-of-run.ts";
import { buttonClass } from "../parts/button-class.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { tileCountOfRun } from "../parts/run-shape.ts";
import { RunTile } from "../parts/run-tile.tsx";
import { text } from "../text/text.ts";
import liveRunTilesStyles from "./result-tile.module.css";
import styles from "./results.module.css";
import { factsOfGroup, type RunGroup } from "./run-groups.ts";
import { TileActions } from "./tile-actions.tsx";

const MAX_WIDE_TILES = 4;

export function ResultGroup({ group }: { group: RunGroup }) {
  const { models, completed, isOpen, cost } = factsOfGroup(group);
  const items = comparableItems(group);
  const tiles = group.runs.reduce((sum, run) => sum + tileCountOfRun(run), 0);
  const facts = [
    models.join(", "),
    sizeOf(group),
    text.make.startedAt(formatClock(group.runs[0]!.created_at)),
    isOpen && text.make.completedOf(completed, group.runs.length),
    cost !== null && (isOpen ? text.make.soFar(formatMoney(cost)) : formatMoney(cost)),
  ];
  return (
    <article className={styles.group}>
      <header className={styles.head}>
        <div>
          <h2 className={styles.prompt}>{group.prompt ?? labelOfGroup(group)}</h2>
          <p className={styles.facts}>{facts.filter(Boolean).join(" · ")}</p>
        </div>
        {items && (
          <Link to="/compare" search={{ items }} className={buttonClass({ kind: "quiet", size: "s" })}>
            <Icon of={Columns2} size="s" />
            {text.make.compare}
          </Link>
        )}
      </header>
      <div className={classNames(styles.tiles, tiles > MAX_WIDE_TILES && styles.many)}>
        {group.runs.map((run) => (
          <LiveRunTiles key={run.run_id} run={run} />
        ))}
      </div>
    </article>
  );
}

const labelOfGroup = ({ runs: [run] }: RunGroup) =>
  (run && findFormOfRun(OPERATION_FORMS, run)?.label) ?? text.run.noPrompt;

/** The size of the files, if all have the same. */
function sizeOf({ runs }: RunGroup): string | false {
  const sizes = new Set(
    runs.flatMap(({ outputs }) =>
      outputs
        .filter(({ role, width }) => role === "result" && width !== null)
        .map(({ width, height }) => `${width} × ${height}`),
    ),
  );
  const [size] = sizes;
  return sizes.size === 1 && size !== undefined && size;
}

/** The first two completed runs with an image; a run with a parent is compared with it. */
function comparableItems({ runs }: RunGroup): string | undefined {
  const ready = runs.filter(({ image_url }) => image_url !== null);
  const [first, second] = ready;
  if (first && second) return `${first.run_id},${second.run_id}`;
  return first?.parent_run_id ? `${first.parent_run_id},${first.run_id}` : undefined;
}

/** The tiles of a run, with what live events have changed since the list was read. */
function LiveRunTiles({ run }: { run: Run }) {
  const { data = run } = useQuery({ ...runQuery(run.run_id), enabled: false });
  const latest = data.updated_at < run.updated_at ? run : { ...data, starred: data.starred ?? run.starred ?? false };
  return Array.from({ length: tileCountOfRun(latest) }, (_, index) => (
    // A run's files keep their order.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <div key={index} className={liveRunTilesStyles.result}>
      <RunTile run={latest} index={index} />
      {latest.status === "completed" && <TileActions run={latest} index={index} />}
    </div>
  ));
}
