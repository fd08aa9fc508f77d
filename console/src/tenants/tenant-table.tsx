// The tenants as a table. Selecting one shows its numbers beside the table.
import type { Tenant } from "@gesso/client";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CirclePause } from "lucide-react";
import { formatMoney } from "../format/money.ts";
import { classNames } from "../parts/class-names.ts";
import { Icon } from "../parts/icon.tsx";
import tableStyles from "../parts/table.module.css";
import { text } from "../text/text.ts";
import styles from "./tenants-page.module.css";

type TenantTableProps = { tenants: readonly Tenant[]; selected: string | undefined };

const words = text.tenants;
const { table, inset, number, minor, current } = tableStyles;
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

export function TenantTable({ tenants, selected }: TenantTableProps) {
  return (
    <table className={classNames(table, inset, styles.tenants)}>
      <thead>
        <tr>
          <th scope="col">{words.name}</th>
          <th scope="col">{words.state}</th>
          <th scope="col" className={number}>
            {words.weight}
          </th>
          <th scope="col" className={number}>
            {words.monthLimit}
          </th>
          <th scope="col" className={number}>
            {words.created}
          </th>
        </tr>
      </thead>
      <tbody>
        {tenants.map((tenant) => (
          <tr key={tenant.id} className={tenant.id === selected ? current : undefined}>
            <td>
              <Link
                to="/tenants"
                search={{ tenant: tenant.id }}
                replace
                className={styles.rowLink}
                aria-current={tenant.id === selected ? "true" : undefined}
              >
                {tenant.name}
              </Link>
            </td>
            <td>
              <TenantState isSuspended={tenant.suspended} />
            </td>
            <td className={number}>{tenant.weight}</td>
            <td className={classNames(number, !tenant.limits.spend_per_month && minor)}>
              {typeof tenant.limits.spend_per_month === "number"
                ? formatMoney(tenant.limits.spend_per_month)
                : words.noLimit}
            </td>
            <td className={classNames(number, minor)}>{day.format(new Date(tenant.created_at))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function TenantState({ isSuspended }: { isSuspended: boolean }) {
  return (
    <span className={classNames(styles.state, isSuspended ? styles.warn : styles.ok)}>
      <Icon of={isSuspended ? CirclePause : CircleCheck} size="s" />
      {isSuspended ? words.suspended : words.active}
    </span>
  );
}
