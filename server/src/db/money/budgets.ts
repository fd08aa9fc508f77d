// Spending limits of tenants, keys and tokens. The row is locked and checked in the statement that accepts the run, so
// concurrent requests cannot reserve more than the limit. All amounts are whole micro-dollars.
import { Fault } from "../../faults.ts";
import type { Database } from "../connect.ts";

/** The tenant itself, among those whose budget counts a run. */
export const TENANT_BUDGET_HOLDER = "00000000-0000-0000-0000-000000000000";

/** Whom a run is counted for, beside its tenant. */
export type Spender = { key_id?: string | null | undefined; token_id?: string | undefined };

export const budgetHolders = ({ key_id, token_id }: Spender): string[] => [
  TENANT_BUDGET_HOLDER,
  ...(key_id ? [key_id] : []),
  ...(token_id ? [token_id] : []),
];

export type BudgetLimitKind = "price" | "balance" | "day" | "month" | "total";
type BudgetRefusal = { reached: BudgetLimitKind; reached_by: string; amount: number | null };

export function toBudgetFault({ reached, reached_by, amount }: BudgetRefusal, { key_id }: Spender): Fault {
  if (reached === "price") return new Fault("spend_limit_reached", { reason: "price_unknown" });
  const of = reached_by === TENANT_BUDGET_HOLDER ? "tenant" : reached_by === key_id ? "key" : "token";
  const details = { limit: reached, of, estimate: amount === null ? null : amount / 1e6 };
  return new Fault(reached === "balance" ? "insufficient_credits" : "spend_limit_reached", details);
}

/** A token's own cap, for as long as it lives. Said again at every use: the first one makes it. */
export async function insertTokenBudget(
  db: Database,
  tenantId: string,
  token: { token_id: string; total: number; ends_at: Date | null },
): Promise<void> {
  await db.query(
    "budgets.token",
    "insert into budgets (tenant_id, holder_id, total_limit, ends_at) values ($1, $2, $3, $4) on conflict do nothing",
    [tenantId, token.token_id, token.total, token.ends_at],
  );
}

export type BudgetRow = {
  holder_id: string;
  is_prepaid: boolean;
  available: number;
  day_limit: number | null;
  month_limit: number | null;
  total_limit: number | null;
  day_used: number;
  month_used: number;
  total_used: number;
};

/** The limits that count for this caller, the tenant's first. */
export async function listBudgets(db: Database, tenantId: string, spender: Spender): Promise<BudgetRow[]> {
  return db.query<BudgetRow>(
    "budgets.of",
    `select holder_id, is_prepaid, available, day_limit, month_limit, total_limit, total_used,
       case when day = day_of(now()) then day_used else 0 end as day_used,
       case when month = month_of(now()) then month_used else 0 end as month_used
     from budgets where tenant_id = $1 and holder_id = any($2::uuid[]) and is_limited order by holder_id`,
    [tenantId, budgetHolders(spender)],
  );
}
