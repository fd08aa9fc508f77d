// The time of a run as one bar with three parts, and their lengths in words.
import type { Run } from "@gesso/client";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import styles from "./phase-bar.module.css";
import { phasesOf } from "./phases.ts";

const words = text.runPage.phases;

export function PhaseBar({ run }: { run: Run }) {
  const phases = phasesOf(run);
  if (phases.length === 0 || !run.finished_at) return null;
  const total = formatDuration(millisecondsBetween(run.created_at, run.finished_at));
  return (
    <section className={styles.phases} aria-label={words.label(total)}>
      <div className={styles.bar} aria-hidden="true">
        {phases.map(({ name, milliseconds }) => (
          <span key={name} className={styles[name]} ref={cssVariables({ "--part": String(milliseconds) })} />
        ))}
      </div>
      <dl className={styles.legend}>
        {phases.map(({ name, milliseconds }) => (
          <div key={name} data-milliseconds={milliseconds}>
            <dt>
              <span className={styles[name]} aria-hidden="true" />
              {words[name]}
            </dt>
            <dd>{formatDuration(milliseconds)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
