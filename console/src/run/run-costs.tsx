// What a run reserved, was charged and got back.
import type { RunLedger } from "@gesso/client";
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import styles from "./timeline.module.css";

const words = text.run.timeline;

export function RunCosts({ ledger }: { ledger: RunLedger }) {
  const lines: [label: string, amount: number][] = [
    [words.reserved, ledger.reserved],
    [words.released, ledger.released],
    ...(ledger.wasted > 0 ? ([[words.wasted, ledger.wasted]] as [string, number][]) : []),
  ];
  return (
    <dl className={styles.costs}>
      {lines.map(([label, amount]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{formatMoney(amount)}</dd>
        </div>
      ))}
      <div className={styles.sum}>
        <dt>{words.thisRun}</dt>
        <dd>{formatMoney(ledger.charged)}</dd>
      </div>
    </dl>
  );
}
