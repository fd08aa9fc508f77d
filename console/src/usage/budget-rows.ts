// The limits of a usage report as rows: what is used, held and left of each, in whole micro-dollars.
import type { UsageReport } from "@gesso/client";
import { toMicros } from "./group-usage.ts";

type Budget = UsageReport["budgets"][number];
export type BudgetPeriod = "hour" | "day" | "month" | "total";
type BudgetHolder = "tenant" | "key" | "token";
export type BudgetRow = {
  id: string;
  of: BudgetHolder;
  /** Name of the key. Undefined for the tenant, a token, and a key whose name is not known. */
  name: string | undefined;
  period: BudgetPeriod;
  limit: number;
  /** Cost of ended runs, without what open runs hold. */
  used: number;
  held: number;
  left: number;
  state: "ok" | "warn" | "bad";
};

const PERIODS: BudgetPeriod[] = ["month", "day", "hour", "total"];
const HOLDERS: BudgetHolder[] = ["tenant", "key", "token"];
const WARN_SHARE = 0.9;

export function budgetRows(budgets: readonly Budget[]): BudgetRow[] {
  return budgets.flatMap((budget) =>
    PERIODS.flatMap((period): BudgetRow[] => {
      const spending = budget[period];
      if (!spending) return [];
      const [limit, all, held] = [toMicros(spending.limit), toMicros(spending.used), toMicros(spending.held)];
      const left = Math.max(0, limit - all);
      const state = left === 0 ? "bad" : all >= limit * WARN_SHARE ? "warn" : "ok";
      const id = `${budget.of} ${budget.key_id} ${period}`;
      const of = HOLDERS.find((each) => each === budget.of) ?? "token";
      return [{ id, of, name: budget.name ?? undefined, period, limit, used: all - held, held, left, state }];
    }),
  );
}
