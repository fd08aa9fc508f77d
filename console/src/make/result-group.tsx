// Runs that were started together: their prompt, what they cost, and a tile for every file.
import { formatMoney } from "../format/money.ts";
import { formatClock } from "../format/time.ts";
import { classNames } from "../parts/class-names.ts";
import { tileCountOfRun } from "../parts/run-shape.ts";
import { text } from "../text/text.ts";
import { LiveRunTiles } from "./live-run-tiles.tsx";
import styles from "./results.module.css";
import { factsOfGroup, type RunGroup } from "./run-groups.ts";

const MAX_WIDE_TILES = 4;

export function ResultGroup({ group }: { group: RunGroup }) {
  const { models, completed, isOpen, cost } = factsOfGroup(group);
  const tiles = group.runs.reduce((sum, run) => sum + tileCountOfRun(run), 0);
  const facts = [
    models.join(", "),
    text.make.startedAt(formatClock(group.runs[0]!.created_at)),
    isOpen && text.make.completedOf(completed, group.runs.length),
    cost !== null && (isOpen ? text.make.soFar(formatMoney(cost)) : formatMoney(cost)),
  ];
  return (
    <article className={styles.group}>
      <header className={styles.head}>
        <h2 className={styles.prompt}>{group.prompt ?? text.run.noPrompt}</h2>
        <p className={styles.facts}>{facts.filter(Boolean).join(" · ")}</p>
      </header>
      <div className={classNames(styles.tiles, tiles > MAX_WIDE_TILES && styles.many)}>
        {group.runs.map((run) => (
          <LiveRunTiles key={run.run_id} run={run} />
        ))}
      </div>
    </article>
  );
}
