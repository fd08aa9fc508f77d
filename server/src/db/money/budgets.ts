// Spending limits of tenants, keys and tokens. The row is locked and checked in the statement that accepts the run, so
// concurrent requests cannot reserve more than the limit. All amounts are whole micro-dollars.
import { Fault } from "../../faults/faults.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import { type AttributedCost, type AttributionKind, attributedHolders } from "./attributed-holders.ts";

/** The holder id of the tenant's own budget. */
export const TENANT_BUDGET_HOLDER = "00000000-0000-0000-0000-000000000000";

/** The keys and the token whose budgets count a run, beside the tenant's, and what its cost is attributed to. */
export type Spender = {
  key_id?: string | null | undefined;
  /** The holders of the limits of the key: those above it, from the root, and its own last. Default: the key. */
  key_holders?: string[] | undefined;
  token_id?: string | undefined;
} & AttributedCost;

const listKeyHolders = ({ key_id, key_holders = key_id ? [key_id] : [] }: Spender): string[] => key_holders;

export const budgetHolders = (spender: Spender): string[] => [
  TENANT_BUDGET_HOLDER,
  ...listKeyHolders(spender),
  ...(spender.token_id ? [spender.token_id] : []),
];

/** Whose limit it is. `key_id`: of a key above the caller's. `value`: the customer, end user or tag. */
export type LimitOwner = {
  of: "tenant" | "key" | "parent_key" | "token" | AttributionKind;
  key_id?: string;
  value?: string;
};

export function describeLimitOwner(holderId: string, spender: Spender): LimitOwner {
  if (holderId === TENANT_BUDGET_HOLDER) return { of: "tenant" };
  const attributed = attributedHolders(spender).find(({ holder_id }) => holder_id === holderId);
  if (attributed) return { of: attributed.kind, value: attributed.value };
  const holders = listKeyHolders(spender);
  if (holderId === holders.at(-1)) return { of: "key" };
  return holders.includes(holderId) ? { of: "parent_key", key_id: holderId } : { of: "token" };
}

export type BudgetLimitKind = "price" | "balance" | "hour" | "day" | "month" | "total";
type BudgetRefusal = { reached: BudgetLimitKind; reached_by: string; amount: number | null };

export function toBudgetFault({ reached, reached_by, amount }: BudgetRefusal, spender: Spender): Fault {
  if (reached === "price") return new Fault("price_unknown", describeLimitOwner(reached_by, spender));
  const owner = describeLimitOwner(reached_by, spender);
  const details = { limit: reached, ...owner, estimate: amount === null ? null : amount / 1e6 };
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
  hour_limit: number | null;
  day_limit: number | null;
  month_limit: number | null;
  total_limit: number | null;
  hour_used: number;
  day_used: number;
  month_used: number;
  total_used: number;
  /** The part of the used amounts that open runs have reserved. */
  hour_held: number;
  day_held: number;
  month_held: number;
  total_held: number;
  /** Name of the key. Null for the budget of the tenant or of a token. */
  key_name: string | null;
};

const LIST = statement(
  "budgets.list",
  `select budgets.holder_id, is_prepaid, available, hour_limit, day_limit, month_limit, total_limit, total_used,
     case when hour = hour_of(now()) then hour_used else 0 end as hour_used,
     case when day = day_of(now()) then day_used else 0 end as day_used,
     case when month = month_of(now()) then month_used else 0 end as month_used,
     hour_held, day_held, month_held, total_held, case when named.is_in_use is not null then named.name end as key_name
   from budgets
   left join (
     select distinct on (key_holder(key_id, holder_ids)) key_holder(key_id, holder_ids) as holder_id, name,
       revoked_at is null as is_in_use
     from api_keys where tenant_id = :tenant_id
     order by key_holder(key_id, holder_ids), replaced_by is not null, key_id desc
   ) as named on named.holder_id = budgets.holder_id
   cross join lateral (
     select coalesce(sum(reserved) filter (where hour_of(runs.created_at) = hour_of(now())), 0)::bigint as hour_held,
       coalesce(sum(reserved) filter (where day_of(runs.created_at) = day_of(now())), 0)::bigint as day_held,
       coalesce(sum(reserved) filter (where month_of(runs.created_at) = month_of(now())), 0)::bigint as month_held,
       coalesce(sum(reserved), 0)::bigint as total_held
     from open_runs join runs using (run_id)
     where open_runs.tenant_id = :tenant_id and budgets.holder_id = any(open_runs.budget_holders)
   ) as open_reserves
   where budgets.tenant_id = :tenant_id and has_limit(budgets) and (budgets.holder_id = any(:holders::uuid[])
     or (:with_keys::boolean and named.is_in_use))
   order by budgets.holder_id`,
).columns<
  Pick<
    BudgetRow,
    "key_name" | "hour_used" | "day_used" | "month_used" | "hour_held" | "day_held" | "month_held" | "total_held"
  >
>();

/** The budgets that count the runs of this caller, the tenant's first. `withKeys`: also those of all other keys. */
export async function listBudgets(
  db: Database,
  tenantId: string,
  spender: Spender,
  { withKeys = false } = {},
): Promise<BudgetRow[]> {
  return db.execute(LIST, { tenant_id: tenantId, holders: budgetHolders(spender), with_keys: withKeys });
}
