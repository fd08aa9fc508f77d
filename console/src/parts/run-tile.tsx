// A file of a run, or the place where it will be. The tile has its final shape from the start.

import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { text } from "../text/text.ts";
import { classNames } from "./class-names.ts";
import { cssVariables } from "./css-variables.ts";
import { ProgressLine } from "./progress-line.tsx";
import { findPrompt } from "./run-prompt.ts";
import { ratioOfRun } from "./run-shape.ts";
import { RunState } from "./run-state.tsx";
import styles from "./run-tile.module.css";
import { TileImage } from "./tile-image.tsx";

type RunTileProps = { run: Run; index?: number };

export function RunTile({ run, index = 0 }: RunTileProps) {
  const output = run.outputs.filter(({ role }) => role === "result")[index];
  const prompt = findPrompt(run) ?? text.run.noPrompt;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run.run_id }}
      ref={cssVariables({ "--ar": String(ratioOfRun(run, index)) })}
      className={classNames(styles.tile, !output && styles.wait)}
      aria-label={text.run.open(prompt)}
    >
      {output ? <TileImage output={output} alt={prompt} /> : <TileState run={run} />}
      {output && <span className={styles.foot}>{factsOf(run)}</span>}
    </Link>
  );
}

function factsOf({ given, cost, started_at, finished_at }: Run): string {
  const seed = given?.seed;
  return [
    typeof seed === "number" && text.run.seed(seed),
    started_at && finished_at && formatDuration(millisecondsBetween(started_at, finished_at)),
    cost && formatMoney(cost.amount),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** A tile without a file: waiting, at work, or ended without one. A failed run says why. */
function TileState({ run }: { run: Run }) {
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
