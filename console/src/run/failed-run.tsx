// A run that ended without a result: why, what it cost, and the ways on. An unknown outcome says that nothing was
// charged.
import type { Run } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { CircleQuestionMark, CircleSlash, CircleX } from "lucide-react";
import { runLedgerQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import { text } from "../text/text.ts";
import styles from "./failed-run.module.css";
import { RetryForm } from "./retry-form.tsx";
import { retryChoiceOf } from "./retry-run.ts";

const words = text.runPage.failed;
const UNKNOWN_OUTCOME = "provider_outcome_unknown";

const LOOKS = {
  failed: { title: words.title, icon: CircleX },
  unknown: { title: words.unknownTitle, icon: CircleQuestionMark },
  canceled: { title: words.canceledTitle, icon: CircleSlash },
};

export function FailedRun({ run }: { run: Run }) {
  const { data: ledger } = useQuery(runLedgerQuery(run.run_id));
  const choice = retryChoiceOf(run);
  const isUnknown = run.error?.code === UNKNOWN_OUTCOME;
  const look = isUnknown ? "unknown" : run.status === "canceled" ? "canceled" : "failed";
  const { title, icon } = LOOKS[look];
  const money = [
    run.cost && run.cost.amount > 0 ? words.charged(formatMoney(run.cost.amount)) : words.notCharged,
    ledger && ledger.released > 0 && words.released(formatMoney(ledger.released)),
    ledger && ledger.wasted > 0 && words.wasted(formatMoney(ledger.wasted)),
  ].filter(Boolean);
  return (
    <div className={styles.card} role="alert">
      <h2 className={classNames(styles.title, styles[look])}>
        <Icon of={icon} />
        {title}
      </h2>
      {run.error && <p>{run.error.message}</p>}
      <p>{money.join(" ")}</p>
      {choice && <RetryForm run={run} choice={choice} />}
      {run.error?.code && (
        <p className={styles.code}>
          <code>{run.error.code}</code>
          {" · "}
          <a href={`/errors/${encodeURIComponent(run.error.code)}`} target="_blank" rel="noreferrer">
            {words.meaning}
          </a>
        </p>
      )}
    </div>
  );
}
