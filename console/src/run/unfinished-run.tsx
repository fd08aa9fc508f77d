// A run without a file: its progress, or why it ended and what that cost.
import type { Run } from "@gesso/client";
import { formatMoney } from "../format/money.ts";
import { buttonClass } from "../parts/button-class.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import styles from "./run-stage.module.css";

export function UnfinishedRun({ run }: { run: Run }) {
  const { status, error, cost, provider, progress, queue_position } = run;
  const isOpen = status === "queued" || status === "processing";
  return (
    <div className={styles.card}>
      <h2>
        <RunState status={status} />
      </h2>
      {isOpen && <ProgressLine value={progress} label={text.run.states.processing} />}
      {status === "queued" && queue_position && <p>{text.run.queuedAt(queue_position)}</p>}
      {status === "processing" && provider && <p>{text.run.processingBy(provider)}</p>}
      {status === "completed" && <p>{run.result ? text.run.resultBelow : text.run.noFile}</p>}
      {error && <p>{error.message}</p>}
      {!isOpen && status !== "completed" && (
        <p className="numeric">{cost ? formatMoney(cost.amount) : text.run.notCharged}</p>
      )}
      {error?.code && (
        <div className={styles.actions}>
          <code className="mono">{error.code}</code>
          <a
            className={buttonClass({ kind: "quiet", size: "s" })}
            href={`/errors/${encodeURIComponent(error.code)}`}
            target="_blank"
            rel="noreferrer"
          >
            {text.common.aboutError}
          </a>
        </div>
      )}
    </div>
  );
}
