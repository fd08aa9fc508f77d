// The spending limits of the tenant and its keys: used, held and left of each, and what to do at a limit.
import type { UsageReport } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { identityQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { buttonClass } from "../parts/button-class.ts";
import { classNames } from "../parts/class-names.ts";
import { ErrorNotice } from "../parts/error-notice.tsx";
import { Meter } from "../parts/meter.tsx";
import { Notice } from "../parts/notice.tsx";
import { text } from "../text/text.ts";
import { type BudgetRow, budgetRows } from "./budget-rows.ts";
import { formatLongDay } from "./date-range.ts";
import styles from "./usage-page.module.css";
import { budgetsQuery } from "./usage-queries.ts";

const words = text.usage;
const MICROS = 1e6;
const money = (micros: number) => formatMoney(micros / MICROS);

export function Budgets({ now }: { now: number }) {
  const { data: budgets, error, refetch } = useQuery(budgetsQuery);
  const { data: identity } = useQuery(identityQuery);
  const rows = budgets && budgetRows(budgets);
  const balance = budgets?.find((each) => each.of === "tenant")?.balance;
  const nameOf = ({ of, name }: BudgetRow) =>
    of === "tenant" ? (identity?.tenant.name ?? "") : (name ?? (of === "key" ? words.thisKey : words.thisToken));
  const reached = rows?.find(({ state }) => state === "bad");
  return (
    <aside className={styles.budgets} aria-labelledby="budgets">
      <div className={styles.head}>
        <h2 id="budgets">{words.budgets}</h2>
      </div>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {balance !== undefined && balance !== null && <BalanceRow balance={balance} />}
      {rows?.map((row) => (
        <BudgetItem key={row.id} row={row} name={nameOf(row)} />
      ))}
      {rows?.length === 0 && <NoBudgets />}
      {reached && <ReachedNotice row={reached} name={nameOf(reached)} now={now} />}
    </aside>
  );
}

function BudgetItem({ row, name }: { row: BudgetRow; name: string }) {
  const kinds = { tenant: words.ofTenant, key: words.ofKey, token: words.ofToken };
  const rest = [...(row.held > 0 ? [words.held(money(row.held))] : []), words.left(money(row.left))].join(" · ");
  return (
    <section className={styles.budget} aria-label={`${name}, ${kinds[row.of][row.period]}`}>
      <p className={styles.line}>
        <span className={classNames(styles.strong, "clip")}>{name}</span>
        <span className={styles.minor}>{kinds[row.of][row.period]}</span>
      </p>
      <Meter
        label={words.meter(name, money(row.used + row.held), money(row.limit))}
        used={row.used}
        held={row.held}
        limit={row.limit}
        state={row.state}
      />
      <p className={styles.line}>
        <span>
          {money(row.used)} <span className={styles.minor}>{words.of(money(row.limit))}</span>
        </span>
        <span className={styles[row.state]}>{row.state === "bad" ? words.reached : rest}</span>
      </p>
    </section>
  );
}

function BalanceRow({ balance }: { balance: NonNullable<UsageReport["budgets"][number]["balance"]> }) {
  return (
    <section className={styles.budget} aria-label={words.balance}>
      <p className={styles.line}>
        <span className={styles.strong}>{words.balance}</span>
        <span className={styles.minor}>{words.balanceOf}</span>
      </p>
      <p className={styles.line}>
        <span className={balance <= 0 ? styles.bad : undefined}>{words.left(formatMoney(balance))}</span>
      </p>
    </section>
  );
}

function NoBudgets() {
  return (
    <div className={styles.noBudgets}>
      <p>{words.budgetsEmpty}</p>
      <Link to="/keys" className={buttonClass({ size: "s" })}>
        {words.budgetsEmptyNext}
      </Link>
    </div>
  );
}

/** First day of the next UTC month. */
const nextMonth = (now: number) => {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString().slice(0, 10);
};

function ReachedNotice({ row, name, now }: { row: BudgetRow; name: string; now: number }) {
  const sentence = {
    hour: words.untilHour,
    day: words.untilDay,
    month: words.untilMonth(formatLongDay(nextMonth(now))),
    total: words.untilRaised,
  }[row.period];
  const actions = (
    <Link to="/keys" className={buttonClass({ size: "s" })}>
      {words.changeLimit}
    </Link>
  );
  return (
    <Notice kind="bad" title={words.isReached(name)} actions={row.of === "key" && actions}>
      {sentence}
    </Notice>
  );
}
