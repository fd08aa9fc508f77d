// What the tenant spent this month, and how much of its limit that is.
import type { Identity } from "@gesso/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { monthSpendQuery } from "../api/queries.ts";
import { formatMoney } from "../format/money.ts";
import { cssVariables } from "../parts/css-variables.ts";
import { text } from "../text/text.ts";
import styles from "./navigation.module.css";

export function MonthSpend({ identity }: { identity: Identity | undefined }) {
  const { data: spent } = useQuery(monthSpendQuery);
  const limit = identity?.tenant.limits.spend_per_month ?? null;
  const month = new Date().toLocaleString("en", { month: "long", timeZone: "UTC" });
  const share = limit && spent !== undefined ? Math.min(100, (spent / limit) * 100) : 0;
  return (
    <Link to="/usage" className={styles.spend} hidden={spent === undefined}>
      <span className={styles.spendLine}>
        <span>{month}</span>
        <span>
          <b>{formatMoney(spent ?? 0)}</b> {limit !== null && text.navigation.spentOf(formatMoney(limit))}
        </span>
      </span>
      {limit !== null && (
        <span className={styles.meter}>
          <i ref={cssVariables({ "--v": `${share}%` })} />
        </span>
      )}
    </Link>
  );
}
