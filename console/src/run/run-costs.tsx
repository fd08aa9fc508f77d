// What a run reserved, got back and was charged, and what the installation bears.
import type { RunLedger } from "@gesso/client";
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import styles from "./timeline.module.css";

const words = text.runPage.costs;

export function RunCosts({ ledger }: { ledger: RunLedger }) {
  const lines: [label: string, amount: number][] = [
    [words.reserved, ledger.reserved],
    [words.released, ledger.released],
  ];
  if (ledger.wasted > 0) lines.push([words.wasted, ledger.wasted]);
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
