// One bar per day, of spend or, if nothing has a cost, of runs. A table with the same numbers follows for screen
// readers.
import type { TenantUsage } from "@gesso/client";
import { formatMoney } from "../format/money.ts";
import { text } from "../text/text.ts";
import styles from "./tenants-page.module.css";

const words = text.tenants;
const DAY_MS = 24 * 60 * 60 * 1000;
const HEIGHT = 56;
const STEP = 10;
const BAR = 8;

/** Every day of the report, also those without runs. */
function fillDays({ from, to, data }: TenantUsage): { day: string; amount: number; runs: number }[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const known = new Map(data.map((row) => [row.day, row]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10);
    return { day, amount: known.get(day)?.amount ?? 0, runs: known.get(day)?.runs ?? 0 };
  });
}

export function DayBars({ usage }: { usage: TenantUsage }) {
  const days = fillDays(usage);
  const isFree = usage.total.amount === 0;
  const heightOf = (day: (typeof days)[number]) => (isFree ? day.runs : day.amount);
  const largest = Math.max(...days.map(heightOf));
  const title = isFree ? words.chartRuns : words.chart;
  return (
    <figure className={styles.bars}>
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={title}>
        {days.map((day, index) => {
          const height = largest > 0 ? Math.max(heightOf(day) > 0 ? 2 : 1, (heightOf(day) / largest) * HEIGHT) : 1;
          return (
            <rect
              key={day.day}
              className={heightOf(day) > 0 ? styles.bar : styles.noBar}
              x={index * STEP}
              y={HEIGHT - height}
              width={BAR}
              height={height}
            />
          );
        })}
      </svg>
      <table className="visually-hidden">
        <caption>{title}</caption>
        <tbody>
          {days.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{isFree ? day.runs : formatMoney(day.amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
