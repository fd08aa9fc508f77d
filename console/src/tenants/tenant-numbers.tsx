// Spend, runs, storage and limits of a tenant in the last 30 days.
import type { TenantUsage } from "@gesso/client";
import { formatBytes } from "../format/bytes.ts";
import { formatMoney } from "../format/money.ts";
import { Meter } from "../parts/meter.tsx";
import { text } from "../text/text.ts";
import { DayBars } from "./day-bars.tsx";
import styles from "./tenants-page.module.css";

const words = text.tenants;
const WARN_SHARE = 0.9;

export function TenantNumbers({ usage }: { usage: TenantUsage }) {
  const { total, storage } = usage;
  const figures = [
    { name: words.spend, value: formatMoney(total.amount), note: "" },
    { name: words.runs, value: total.runs.toLocaleString("en"), note: words.failed(total.failed) },
    { name: words.open, value: usage.open_runs.toLocaleString("en"), note: "" },
    { name: words.stored, value: formatBytes(storage.bytes), note: words.files(storage.files) },
  ];
  return (
    <>
      <dl className={styles.figures}>
        {figures.map(({ name, value, note }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={styles.value}>{value}</dd>
            <dd className={styles.note}>{note || "\u00a0"}</dd>
          </div>
        ))}
      </dl>
      <DayBars usage={usage} />
      <div>
        <p className={styles.line}>
          <span>{words.balance}</span>
          <span>{usage.balance === null ? words.notPrepaid : formatMoney(usage.balance)}</span>
        </p>
        {usage.month && <LimitRow name={words.month} spending={usage.month} />}
        {usage.day && <LimitRow name={words.today} spending={usage.day} />}
      </div>
    </>
  );
}

type LimitRowProps = { name: string; spending: NonNullable<TenantUsage["month"]> };

function LimitRow({ name, spending: { limit, used, held } }: LimitRowProps) {
  const left = Math.max(0, limit - used);
  const rest = [...(held > 0 ? [words.held(formatMoney(held))] : []), words.left(formatMoney(left))].join(" · ");
  return (
    <div className={styles.limit}>
      <p className={styles.line}>
        <span>{name}</span>
        <span className={styles.minor}>{rest}</span>
      </p>
      <Meter
        label={words.meter(name, formatMoney(used), formatMoney(limit))}
        used={used - held}
        held={held}
        limit={limit}
        state={left === 0 ? "bad" : used >= limit * WARN_SHARE ? "warn" : "ok"}
      />
      <p className={styles.line}>
        <span>
          {formatMoney(used - held)} <span className={styles.minor}>{words.of(formatMoney(limit))}</span>
        </span>
      </p>
    </div>
  );
}
