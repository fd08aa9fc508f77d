// The four figures that lead the page: spend, runs, share of completed runs, and stored files.
import type { UsageReport } from "@gesso/client";
import { formatBytes } from "../format/bytes.ts";
import { formatMoney } from "../format/money.ts";
import { formatCount } from "../text/count.ts";
import { text } from "../text/text.ts";
import { type DateRange, daysIn } from "./date-range.ts";
import styles from "./usage-page.module.css";

type UsageFiguresProps = {
  report: UsageReport | undefined;
  before: UsageReport["total"] | undefined;
  range: DateRange;
};
type FigureProps = { name: string; value: string | undefined; note: string | undefined };

const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const finePercent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const words = text.usage;

export function UsageFigures({ report, before, range }: UsageFiguresProps) {
  const days = daysIn(range);
  const total = report?.total;
  const ended = total ? total.completed + total.failed + total.canceled : 0;
  const storage = report?.storage;
  return (
    <dl className={styles.figures}>
      <Figure
        name={words.spend}
        value={total && formatMoney(total.amount)}
        note={total && before && spendNote(total, before, words.daysBefore(days))}
      />
      <Figure
        name={words.runs}
        value={total && formatCount(total.runs)}
        note={total && (days > 1 ? words.perDay(formatCount(Math.round(total.runs / days))) : openNote(total))}
      />
      <Figure
        name={words.completed}
        value={total && (ended > 0 ? finePercent.format(total.completed / ended) : "–")}
        note={total && (total.failed > 0 ? words.failed(total.failed) : words.noneFailed)}
      />
      <Figure
        name={words.stored}
        value={storage && formatBytes(storage.bytes)}
        note={
          storage &&
          words.storedFiles(storage.files, storage.bytes_limit === null ? undefined : formatBytes(storage.bytes_limit))
        }
      />
    </dl>
  );
}

function Figure({ name, value, note }: FigureProps) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={styles.value}>{value ?? <span className={styles.placeholder} />}</dd>
      <dd className={styles.note}>{note ?? "\u00a0"}</dd>
    </div>
  );
}

const openNote = ({ runs, completed, failed, canceled }: UsageReport["total"]) =>
  words.open(runs - completed - failed - canceled);

function spendNote(now: UsageReport["total"], before: UsageReport["total"], days: string): string {
  if (now.unpriced > 0) return words.unpriced(now.unpriced);
  if (before.amount === 0) return now.amount === 0 ? words.same(days) : words.noneBefore(days);
  const change = now.amount / before.amount - 1;
  if (Math.abs(change) < 0.005) return words.same(days);
  return change > 0 ? words.more(percent.format(change), days) : words.less(percent.format(-change), days);
}
