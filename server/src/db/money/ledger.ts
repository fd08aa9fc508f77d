// The ledger (double entry). Every transfer is inserted by the statement that causes it: accepting a run inserts its
// reservation, ending a run inserts its settlement. All amounts are whole micro-dollars.
import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import {
  IDEMPOTENCY_KEY_IS_FREE,
  idempotencyParameters,
  insertIdempotencyKeySql,
  type NewIdempotencyKey,
} from "../idempotency-keys.ts";
import { statement } from "../statement.ts";
import { TENANT_BUDGET_HOLDER } from "./budgets.ts";

/**
 * A part of a statement that ends runs. `settlement` is the name of a CTE of that statement with one row for each run
 * that ended, and the columns `run_id`, `tenant_id`, `accepted_at`, `reserved`, `reserved_from`, `budget_holders`,
 * `charged` and `wasted`. Null amounts are zero.
 */
type SettlementSql = { settlement: string };

/** A CTE `settlement_transfers` that charges the run, releases the rest of its reservation and records waste. */
export const insertSettlementSql = ({ settlement }: SettlementSql) => `settlement_transfers as (
    insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
    select run_id, kind, tenant_id, from_account, to_account, amount
    from ${settlement} cross join lateral (values
      ('settle', case when reserved is null then 'credit' else 'reserved' end, 'spent', charged),
      ('release', 'reserved', reserved_from, reserved - coalesce(charged, 0)),
      ('waste', 'outside', 'waste', wasted)
    ) as moves (kind, from_account, to_account, amount)
    where amount > 0
  )`;

/**
 * The amount that providers may have charged for attempts whose output the caller does not get. `isNowDelivered` is an
 * SQL condition on an attempt that is still open, whose output the same statement delivers.
 */
export const wastedAmountSql = ({
  runId,
  isDelivered,
  isNowDelivered = "false",
}: {
  runId: string;
  isDelivered: string;
  isNowDelivered?: string;
}) => `
  select sum(price)::bigint from attempts
  where run_id = ${runId} and ((state in ('intent', 'submitted', 'unknown') and not (${isNowDelivered}))
    or (state = 'succeeded' and not ${isDelivered})
    or (state = 'failed' and fault ->> 'code' = 'provider_outcome_unknown'))`;

/** The amount that providers may charge for the jobs of a canceled run: those that they accepted or finished. */
export const canceledCostSql = ({ runId }: { runId: string }) => `
  select nullif(sum(price), 0)::bigint from attempts
  where run_id = ${runId} and state in ('submitted', 'succeeded')`;

/** The balance is low below this fraction (1/5) of the balance after the last top-up. */
const LOW_BALANCE_DIVISOR = 5;

export type CreditChange = {
  tenant_id: string;
  /** A negative amount is a withdrawal. */
  amount: number;
  is_prepaid: boolean;
  transfer_id: string;
  idempotency?: NewIdempotencyKey | undefined;
};
export type TenantBalance = { tenant_id: string; available: number; is_prepaid: boolean };
export type CreditResult = TenantBalance & { is_applied: boolean };

const INSERT_TENANT_BUDGET = statement(
  "ledger.insert_tenant_budget",
  "insert into budgets (tenant_id) select tenant_id from tenants where tenant_id = :tenant_id on conflict do nothing",
);

const CREDIT = statement(
  "ledger.credit",
  `with balance as (
     select available from budgets
     where tenant_id = :tenant_id and holder_id = '${TENANT_BUDGET_HOLDER}' for update
   ), ${insertIdempotencyKeySql({
     kind: "credit",
     resource: ":transfer_id",
     tenant: ":actor_tenant_id::uuid",
     from: "balance",
     when: "available + :amount::bigint >= 0",
   })}, changed as (
     update budgets set available = budgets.available + :amount::bigint, is_prepaid = :is_prepaid::boolean,
       low_threshold = case when :amount::bigint > 0 then (budgets.available + :amount::bigint) / ${LOW_BALANCE_DIVISOR}
         else low_threshold end,
       low_notified_at = case when :amount::bigint > 0 then null else low_notified_at end
     from balance
     where tenant_id = :tenant_id and holder_id = '${TENANT_BUDGET_HOLDER}' and balance.available + :amount::bigint >= 0
       and ${IDEMPOTENCY_KEY_IS_FREE}
     returning budgets.available, is_prepaid
   ), transfer as (
     insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
     select :transfer_id, 'topup', :tenant_id, case when :amount::bigint > 0 then 'outside' else 'available' end,
       case when :amount::bigint > 0 then 'available' else 'outside' end, abs(:amount::bigint)
     from changed where :amount::bigint <> 0
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'tenants.credit', :tenant_id::text,
       jsonb_build_object('amount', trim_scale(:amount::bigint / 1000000.0), 'prepaid', :is_prepaid::boolean,
         'by_tenant', :actor_tenant_id::uuid)
     from changed
   )
   select tenant_id, coalesce(changed.available, budgets.available) as available,
     coalesce(changed.is_prepaid, budgets.is_prepaid) as is_prepaid, changed.available is not null as is_applied
   from budgets left join changed on true where tenant_id = :tenant_id and holder_id = '${TENANT_BUDGET_HOLDER}'`,
).columns<Omit<CreditResult, "tenant_id">>();

/**
 * Adds an amount to the balance of a tenant or withdraws it, and sets whether the tenant is prepaid. Nothing is
 * applied if another request holds the idempotency key, or if the withdrawal exceeds the balance. Undefined if there
 * is no such tenant.
 */
export async function creditBalance(
  db: Database,
  actor: Actor,
  change: CreditChange,
): Promise<CreditResult | undefined> {
  await db.execute(INSERT_TENANT_BUDGET, { tenant_id: change.tenant_id });
  const [row] = await db.execute(CREDIT, {
    tenant_id: change.tenant_id,
    amount: change.amount,
    is_prepaid: change.is_prepaid,
    transfer_id: change.transfer_id,
    ...actorParameters(actor),
    actor_tenant_id: actor.tenant_id,
    ...idempotencyParameters(change.idempotency),
  });
  return row;
}

const FIND_BALANCE = statement(
  "ledger.find_balance",
  `select tenant_id, available, is_prepaid from budgets
   where tenant_id = :tenant_id and holder_id = '${TENANT_BUDGET_HOLDER}'`,
);

export async function findBalance(db: Database, tenantId: string): Promise<TenantBalance | undefined> {
  const [row] = await db.execute(FIND_BALANCE, { tenant_id: tenantId });
  return row;
}

const INSERT_LOW_CREDITS_EVENT = statement(
  "ledger.low_credits_event",
  `with low as (
     update budgets set low_notified_at = now()
     where holder_id = '${TENANT_BUDGET_HOLDER}' and tenant_id = any (array(
       select tenant_id from budgets where is_prepaid and low_notified_at is null and available < low_threshold
       limit 1 for update skip locked))
     returning tenant_id, available, low_threshold
   )
   insert into events (run_id, event_id, tenant_id, type, data)
   select :event_id, :event_id, tenant_id, 'credits.low',
     jsonb_build_object('balance', trim_scale(available / 1000000.0),
     'low_at', trim_scale(low_threshold / 1000000.0), 'currency', 'USD')
   from low returning event_id`,
);

/** Inserts a `credits.low` event for one prepaid tenant with a low balance, if there is one; once per top-up. */
export async function insertLowCreditsEvent(db: Database, eventId: string): Promise<boolean> {
  const rows = await db.execute(INSERT_LOW_CREDITS_EVENT, { event_id: eventId });
  return rows.length > 0;
}
