// `gesso cost`: usage and cost as a table with its total.
import type { UsageReport } from "@gesso/client";
import { renderTable } from "./table.ts";
import { formatAmount } from "./terminal.ts";

export function renderCost({ from, to, data, total }: UsageReport): string[] {
  const rows = data.map(({ amount, unpriced, ...row }) => ({
    ...row,
    cost: formatAmount(amount),
    ...(unpriced > 0 && { unpriced }),
  }));
  const unpriced = total.unpriced > 0 ? `, without ${total.unpriced} runs of unknown price` : "";
  return [...renderTable(rows), `${from} to ${to}: ${total.runs} runs, ${formatAmount(total.amount)}${unpriced}`];
}
