// Spending limits of tenants, keys and tokens. The row is locked and checked in the statement that accepts the run, so
// concurrent requests cannot reserve more than the limit. All amounts are whole micro-dollars.
import { Fault } from "../../faults.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

/** The holder id of the tenant's own budget. */
export const TENANT_BUDGET_HOLDER = "00000000-0000-0000-0000-000000000000";

/** The key and token whose budgets count a run, beside the tenant's. */
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

const INSERT_TOKEN = statement(
  "budgets.insert_token",
  `insert into budgets (tenant_id, holder_id, total_limit, ends_at)
   values (:tenant_id, :token_id, :total, :ends_at?) on conflict do nothing`,
);

/** The spending limit of a token for its whole life. Idempotent: called at every use, the first call inserts it. */
export async function insertTokenBudget(
  db: Database,
  tenantId: string,
  { token_id, total, ends_at }: { token_id: string; total: number; ends_at: Date | null },
): Promise<void> {
  await db.execute(INSERT_TOKEN, { tenant_id: tenantId, token_id, total, ends_at });
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

const LIST = statement(
  "budgets.list",
  `select holder_id, is_prepaid, available, day_limit, month_limit, total_limit, total_used,
     case when day = day_of(now()) then day_used else 0 end as day_used,
     case when month = month_of(now()) then month_used else 0 end as month_used
   from budgets where tenant_id = :tenant_id and holder_id = any(:holders::uuid[]) and is_limited order by holder_id`,
).columns<{ day_used: number; month_used: number }>();

/** The budgets that count the runs of this caller, the tenant's first. */
export async function listBudgets(db: Database, tenantId: string, spender: Spender): Promise<BudgetRow[]> {
  return db.execute(LIST, { tenant_id: tenantId, holders: budgetHolders(spender) });
}
