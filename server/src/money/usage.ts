// Reports the usage of the caller's tenant, what is left of its budgets, and what it stores.

import type { RequestContext } from "../access/request-context.ts";
import { authorize } from "../access/scopes.ts";
import type { TenantUsage, Usage, UsageFilter } from "../contract/schemas/usage.ts";
import { limitHolders } from "../db/access/caller.ts";
import { findTenant } from "../db/access/tenants.ts";
import { readStorageUsage } from "../db/files/storage-usage.ts";
import { type BudgetRow, listBudgets, TENANT_BUDGET_HOLDER } from "../db/money/budgets.ts";
import { canSumBy, sumUsage } from "../db/money/usage.ts";
import { countOpenRuns } from "../db/runs/open-run-counts.ts";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const MAX_ROWS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const NO_LIMITS = { balance: null, hour: null, day: null, month: null };
const NO_SUCH_SUMS = "One of customer, end_user and tag can be combined with day and model, and with nothing else.";
const LIST_KEYS = { name: "keys.list", http: { method: "GET" } };

export type UsageDependencies = { clock: Clock };

export async function reportUsage(
  { clock }: UsageDependencies,
  { database, caller, storageLimits }: RequestContext,
  filter: UsageFilter,
): Promise<Usage> {
  const { from, to } = resolveDateRange(filter, clock);
  if (!canSumBy(filter.by)) throw rangeFault("/by", NO_SUCH_SUMS);
  const withKeys = filter.all_keys === true;
  // The limits of other keys are what `keys.list` shows.
  if (withKeys) authorize(caller, LIST_KEYS);
  const token_id = caller.token?.token_id;
  const key_holders = limitHolders(caller).map(({ holder_id }) => holder_id);
  const [data, totals, budgets, stored] = await Promise.all([
    sumUsage(database, caller.tenant_id, { from, to, by: filter.by, limit: MAX_ROWS + 1 }),
    sumUsage(database, caller.tenant_id, { from, to, by: [], limit: 1 }),
    listBudgets(database, caller.tenant_id, { key_holders, token_id }, { withKeys }),
    readStorageUsage(database, caller.tenant_id),
  ]);
  if (data.length > MAX_ROWS)
    throw rangeFault("/by", `More than ${MAX_ROWS} rows. Request fewer days or fewer group-by fields.`);
  return {
    currency: "USD",
    from,
    to,
    data,
    total: totals[0]!,
    budgets: budgets.map((row) => renderBudget(row, key_holders)),
    storage: { ...stored, bytes_limit: storageLimits.bytes ?? null, files_limit: storageLimits.files ?? null },
  };
}

/** What is left of the spending limit of the caller's access token, in US dollars. Undefined without such a limit. */
export async function findTokenSpendLeft({
  database,
  caller,
}: Pick<RequestContext, "database" | "caller">): Promise<number | undefined> {
  const { token, tenant_id } = caller;
  if (token?.max_spend === null || !token) return undefined;
  const { token_id } = token;
  const budget = (await listBudgets(database, tenant_id, { token_id })).find(({ holder_id }) => holder_id === token_id);
  // The budget is inserted with the first run of the token.
  return budget ? ((budget.total_limit ?? 0) - budget.total_used) / 1e6 : token.max_spend;
}

/** The numbers of any tenant, for the operator: `database` is not scoped to a tenant. */
export async function reportTenantUsage(
  { clock }: UsageDependencies,
  { database }: Pick<RequestContext, "database">,
  tenantId: string,
  days: Pick<UsageFilter, "from" | "to">,
): Promise<TenantUsage> {
  if (!(await findTenant(database, tenantId))) throw new Fault("route_not_found");
  const { from, to } = resolveDateRange({ ...days, by: ["day"] }, clock);
  const [data, totals, [budget], open_runs, storage] = await Promise.all([
    sumUsage(database, tenantId, { from, to, by: ["day"], limit: MAX_DAYS }),
    sumUsage(database, tenantId, { from, to, by: [], limit: 1 }),
    listBudgets(database, tenantId, {}),
    countOpenRuns(database, tenantId),
    readStorageUsage(database, tenantId),
  ]);
  const { balance, hour, day, month } = budget ? renderSpendingLimits(budget) : NO_LIMITS;
  return {
    ...{ tenant_id: tenantId, currency: "USD", from, to, data: data.map((row) => ({ ...row, day: row.day! })) },
    ...{ total: totals[0]!, open_runs, balance, hour, day, month, storage },
  };
}

function resolveDateRange({ from, to }: UsageFilter, clock: Clock): { from: string; to: string } {
  const last = to ?? toIsoDate(clock.now());
  const first = from ?? toIsoDate(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS);
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  if (days < 1) throw rangeFault("/to", "The last day is before the first.");
  if (days > MAX_DAYS) throw rangeFault("/from", `At most ${MAX_DAYS} days.`);
  return { from: first, to: last };
}

const toIsoDate = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);

const rangeFault = (path: string, message: string) =>
  new Fault("validation_error", { errors: [{ path, code: "out_of_range", message }] });

function renderBudget(row: BudgetRow, key_holders: string[]): Usage["budgets"][number] {
  const isKey = row.key_name !== null || key_holders.includes(row.holder_id);
  return {
    of: row.holder_id === TENANT_BUDGET_HOLDER ? "tenant" : isKey ? "key" : "token",
    key_id: isKey ? row.holder_id : null,
    name: row.key_name,
    ...renderSpendingLimits(row),
  };
}

function renderSpendingLimits(row: Omit<BudgetRow, "holder_id" | "key_name">) {
  const spending = (limit: number | null, used: number, held: number) =>
    limit === null ? null : { limit: limit / 1e6, used: used / 1e6, held: held / 1e6 };
  return {
    balance: row.is_prepaid ? row.available / 1e6 : null,
    hour: spending(row.hour_limit, row.hour_used, row.hour_held),
    day: spending(row.day_limit, row.day_used, row.day_held),
    month: spending(row.month_limit, row.month_used, row.month_held),
    total: spending(row.total_limit, row.total_used, row.total_held),
  };
}
