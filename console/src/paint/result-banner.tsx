// The edit that was started last: its progress, or the way to its result.
import type { Run } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { buttonClass } from "../parts/button-class.ts";
import { Notice } from "../parts/notice.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RunState } from "../parts/run-state.tsx";
import { runStateName } from "../parts/run-states.ts";
import { text } from "../text/text.ts";
import styles from "./panel.module.css";

export function ResultBanner({ run, onShow }: { run: Run; onShow(): void }) {
  return (
    <section className={styles.banner} aria-label={text.paint.result.title}>
      {run.status === "completed" ? (
        <Button onClick={onShow}>{text.paint.result.show}</Button>
      ) : (
        <RunProgress run={run} />
      )}
    </section>
  );
}

/** A run that the page has started, until it ends: its state, its progress and, if it fails, why and what to do. */
function RunProgress({ run }: { run: Run }) {
  const { status, run_id, progress, error } = run;
  if (status === "completed") return null;
  const link = (
    <Link to="/runs/$runId" params={{ runId: run_id }} className={buttonClass({ kind: "quiet", size: "s" })}>
      {text.paint.result.open}
    </Link>
  );
  if (status === "failed" || status === "canceled") {
    return (
      <Notice kind="bad" title={error?.message ?? text.run.states[runStateName(status)]} actions={link}>
        {text.paint.result.failed}
      </Notice>
    );
  }
  return (
    <div className={styles.progress} role="status">
      <span className={styles.progressLine}>
        <RunState status={status} />
        <span className="numeric">{Math.round(progress * 100)} %</span>
        {link}
      </span>
      <ProgressLine value={progress} label={text.paint.result.progress} />
    </div>
  );
}
