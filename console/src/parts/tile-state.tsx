// A tile without a file: waiting, at work, or ended without one. A failed run says why.
import type { Run } from "@gesso/client";
import { text } from "../text/text.ts";
import { ProgressLine } from "./progress-line.tsx";
import { RunState } from "./run-state.tsx";
import styles from "./run-tile.module.css";

export function TileState({ run }: { run: Run }) {
  const { status, provider, progress, error } = run;
  if (status === "processing") {
    return (
      <span className={styles.work}>
        <span className={styles.workLine}>
          <span>{provider ? text.run.processingBy(provider) : text.run.states.processing}</span>
          <span className="numeric">{Math.round(progress * 100)} %</span>
        </span>
        <ProgressLine value={progress} label={text.run.states.processing} />
      </span>
    );
  }
  const words = wordsOf(run);
  if (words) return <span className={styles.words}>{words}</span>;
  return (
    <span className={styles.say}>
      <b>
        <RunState status={status} />
      </b>
      {error && <span>{error.message}</span>}
      {error?.code && <span className="mono">{error.code}</span>}
    </span>
  );
}

/** The text that a run made, such as a description; undefined for runs that make files. */
function wordsOf({ status, result }: Run): string | undefined {
  if (status !== "completed" || !result) return undefined;
  return Object.values(result).find((value): value is string => typeof value === "string" && value !== "");
}
