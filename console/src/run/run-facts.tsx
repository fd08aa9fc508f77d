// The prompt of a run and its four figures.
import type { Run } from "@gesso/client";
import { formatMoney } from "../format/money.ts";
import { formatDuration, millisecondsBetween } from "../format/time.ts";
import { RunState } from "../parts/run-state.tsx";
import { text } from "../text/text.ts";
import styles from "./run-panel.module.css";

export function RunFacts({ run }: { run: Run }) {
  const { inputs, cost, created_at, finished_at, model, status } = run;
  const hasEndedWithoutCost = !cost && (status === "failed" || status === "canceled");
  return (
    <div className={styles.lead}>
      <p className={styles.prompt}>{typeof inputs.prompt === "string" ? inputs.prompt : text.run.noPrompt}</p>
      <dl className={styles.facts}>
        <div>
          <dt>{text.run.state}</dt>
          <dd>
            <RunState status={status} />
          </dd>
        </div>
        <div>
          <dt>{text.run.cost}</dt>
          <dd>{cost ? formatMoney(cost.amount) : hasEndedWithoutCost ? text.run.notCharged : "–"}</dd>
        </div>
        <div>
          <dt>{text.run.time}</dt>
          <dd>{finished_at ? formatDuration(millisecondsBetween(created_at, finished_at)) : "–"}</dd>
        </div>
        <div>
          <dt>{text.run.model}</dt>
          <dd>{model ?? "–"}</dd>
        </div>
      </dl>
    </div>
  );
}
