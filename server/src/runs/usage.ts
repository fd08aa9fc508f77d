// What a caller's tenant has used, and how much of its budgets is left.
import { type BudgetRow, budgetsOf, TENANT_ITSELF } from "../db/budgets.ts";
import type { Caller } from "../db/runs.ts";
import { sumUsage } from "../db/usage.ts";
import { Fault } from "../faults.ts";
import type { Usage, UsageFilter } from "../kit/shapes-money.ts";
import type { House } from "./house.ts";

const USUAL_DAYS = 30;
const MOST_DAYS = 366;
const MOST_ROWS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export async function usageOf({ db }: Pick<House, "db">, caller: Caller, filter: UsageFilter): Promise<Usage> {
  const { from, to } = daysOf(filter);
  const token_id = caller.token?.token_id;
  const [data, totals, budgets] = await Promise.all([
    sumUsage(db, caller.tenant_id, { from, to, by: filter.by, limit: MOST_ROWS + 1 }),
    sumUsage(db, caller.tenant_id, { from, to, by: [], limit: 1 }),
    budgetsOf(db, caller.tenant_id, { key_id: caller.key_id, token_id }),
  ]);
  if (data.length > MOST_ROWS) throw refusal("/by", `More than ${MOST_ROWS} rows: ask for fewer days or words.`);
  return { currency: "USD", from, to, data, total: totals[0]!, budgets: budgets.map((row) => showBudget(row, caller)) };
}

function daysOf({ from, to }: UsageFilter): { from: string; to: string } {
  const last = to ?? dayOf(Date.now());
  const first = from ?? dayOf(Date.parse(last) - (USUAL_DAYS - 1) * DAY_MS);
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  if (days < 1) throw refusal("/to", "The last day is before the first.");
  if (days > MOST_DAYS) throw refusal("/from", `At most ${MOST_DAYS} days.`);
  return { from: first, to: last };
}

const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10);

const refusal = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "out_of_range", message }] });

function showBudget(row: BudgetRow, { key_id }: Caller): Usage["budgets"][number] {
  const spending = (limit: number | null, used: number) =>
    limit === null ? null : { limit: limit / 1e6, used: used / 1e6 };
  return {
    of: row.holder_id === TENANT_ITSELF ? "tenant" : row.holder_id === key_id ? "key" : "token",
    balance: row.is_prepaid ? row.available / 1e6 : null,
    day: spending(row.day_limit, row.day_used),
    month: spending(row.month_limit, row.month_used),
    total: spending(row.total_limit, row.total_used),
  };
}
