// The ledger (double entry). Every transfer is inserted by the statement that causes it: accepting a run inserts its
// reservation, ending a run inserts its settlement. All amounts are whole micro-dollars.
import type { Actor } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { TENANT_BUDGET_HOLDER } from "./budgets.ts";

/**
 * Statements that end a run go on with this. They bring `bill`, a row where the run really ended: `run_id`, `tenant_id`,
 * `accepted_at`, what it held (`reserved`, `held_from`, `holders`), what is `charged` and what is `wasted`. Null is nothing.
 */
export const SETTLEMENT_TRANSFERS = `
  booked as (
    insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
    select run_id, kind, tenant_id, from_account, to_account, amount
    from bill cross join lateral (values
      ('settle', case when reserved is null then 'credit' else 'reserved' end, 'spent', charged),
      ('release', 'reserved', held_from, reserved - coalesce(charged, 0)),
      ('waste', 'outside', 'waste', wasted)
    ) as moves (kind, from_account, to_account, amount)
    where amount > 0
  )`;

/** And they end with this: the budgets that counted the run get back what it did not cost. */
export const RELEASE_BUDGETS = `
  (select ease_budget(tenant_id, holders, reserved - coalesce(charged, 0), held_from = 'available', accepted_at)
   from bill where holders is not null and reserved > coalesce(charged, 0)) as eased`;

/** What providers may have taken for attempts that a caller gets nothing of. `delivered`: what was made reached the caller. */
export const wastedAmountSql = (run: string, delivered: string) => `
  select sum(price)::bigint from attempts
  where run_id = ${run} and (state in ('intent', 'submitted', 'unknown') or (state = 'succeeded' and not ${delivered})
    or (state = 'failed' and fault ->> 'code' = 'provider_outcome_unknown'))`;

/** Less than this part of what there was after the last payment is little. */
const LOW_BALANCE_DIVISOR = 5;

export type CreditChange = {
  tenant_id: string;
  /** Below zero takes money out again. */
  amount: number;
  is_prepaid: boolean;
  transfer_id: string;
  idempotency?: { key: string; fingerprint: Buffer } | undefined;
};
export type CreditResult = { tenant_id: string; available: number; is_prepaid: boolean; done: boolean };

/**
 * Moves money into a tenant's balance or out of it, and says whether the tenant pays in advance. Answers what was done, and
 * the balance after it: nothing is done where the key is taken, or more would be taken out than is there.
 */
export async function creditBalance(
  db: Database,
  actor: Actor,
  change: CreditChange,
): Promise<CreditResult | undefined> {
  await db.query(
    "ledger.row",
    "insert into budgets (tenant_id) select tenant_id from tenants where tenant_id = $1 on conflict do nothing",
    [change.tenant_id],
  );
  const [row] = await db.query<CreditResult>(
    "ledger.credit",
    `with kept as (
       select available from budgets where tenant_id = $1 and holder_id = '${TENANT_BUDGET_HOLDER}' for update
     ), key as (
       insert into idempotency_keys (tenant_id, key, fingerprint, run_id)
       select $5::uuid, $6, $7, $4 from kept where available + $2::bigint >= 0 and $6::text is not null
       on conflict do nothing returning run_id
     ), changed as (
       update budgets set available = budgets.available + $2::bigint, is_prepaid = $3::boolean,
         low_at = case when $2::bigint > 0 then (budgets.available + $2::bigint) / ${LOW_BALANCE_DIVISOR} else low_at end,
         low_told_at = case when $2::bigint > 0 then null else low_told_at end
       from kept
       where tenant_id = $1 and holder_id = '${TENANT_BUDGET_HOLDER}' and kept.available + $2::bigint >= 0
         and ($6::text is null or exists (select from key))
       returning budgets.available, is_prepaid
     ), moved as (
       insert into transfers (cause_id, kind, tenant_id, from_account, to_account, amount)
       select $4, 'topup', $1, case when $2::bigint > 0 then 'outside' else 'available' end,
         case when $2::bigint > 0 then 'available' else 'outside' end, abs($2::bigint) from changed where $2::bigint <> 0
     ), told as (
       insert into audit (tenant_id, user_id, key_id, action, subject, details)
       select $1, $8, $9::uuid, 'tenants.credit', $1::text,
         jsonb_build_object('amount', trim_scale($2::bigint / 1000000.0), 'prepaid', $3::boolean, 'by_tenant', $5::uuid)
       from changed
     )
     select tenant_id, coalesce(changed.available, budgets.available) as available,
       coalesce(changed.is_prepaid, budgets.is_prepaid) as is_prepaid, changed.available is not null as done
     from budgets left join changed on true where tenant_id = $1 and holder_id = '${TENANT_BUDGET_HOLDER}'`,
    [
      ...[change.tenant_id, change.amount, change.is_prepaid, change.transfer_id],
      ...[actor.tenant_id, change.idempotency?.key, change.idempotency?.fingerprint, actor.user_id, actor.key_id],
    ],
  );
  return row;
}

/** Tells one tenant, if there is one, that less than a fifth of its balance is left; once for every payment. */
export async function insertLowCreditsEvent(db: Database, eventId: string): Promise<boolean> {
  const rows = await db.query(
    "ledger.low",
    `with low as (
       update budgets set low_told_at = now()
       where holder_id = '${TENANT_BUDGET_HOLDER}' and tenant_id = any (array(
         select tenant_id from budgets where is_prepaid and low_told_at is null and available < low_at
         limit 1 for update skip locked))
       returning tenant_id, available, low_at
     )
     insert into events (run_id, event_id, tenant_id, type, data)
     select $1, $1, tenant_id, 'credits.low', jsonb_build_object(
       'balance', trim_scale(available / 1000000.0), 'low_at', trim_scale(low_at / 1000000.0), 'currency', 'USD')
     from low returning event_id`,
    [eventId],
  );
  return rows.length > 0;
}

/** How often a promise of the books is broken; 0 is the only good answer. */
export type LedgerCheck = { promise: string; broken: number };

/** Lays the books side by side in one snapshot, so it may be asked while runs come and go. It reads all that was ever booked. */
export async function findLedgerViolations(db: Database): Promise<LedgerCheck[]> {
  const [row] = await db.query<Record<keyof typeof LEDGER_INVARIANTS, number>>("ledger.check", CHECK_LEDGER);
  return Object.entries(LEDGER_INVARIANTS).map(([name, promise]) => ({
    promise,
    broken: row![name as keyof typeof LEDGER_INVARIANTS],
  }));
}

const LEDGER_INVARIANTS = {
  unbalanced: "the sum of all ledger entries is zero",
  misheld: "every open run has exactly its reservation and no other transfer",
  orphaned: "only open runs hold money",
  unsettled: "the reservation of an ended run was settled or released in full",
  mischarged: "a run was charged what it says it cost, and only if it was completed",
  misbalanced: "every balance is the sum of its entries",
  overdrawn: "no balance is below zero",
};

const CHECK_LEDGER = `
  with causes as (
    select cause_id, coalesce(sum(amount) filter (where kind = 'reserve'), 0) as held,
      coalesce(sum(amount) filter (where kind = 'settle'), 0) as settled,
      coalesce(sum(amount) filter (where from_account = 'reserved'), 0) as gone
    from transfers where kind <> 'topup' group by cause_id
  ), balances as (
    select tenant_id, sum(amount) as available from entries where account = 'available' group by tenant_id
  )
  select (select abs(coalesce(sum(amount), 0)) from entries)::int as unbalanced,
    (select count(*) from open_runs left join causes on cause_id = run_id
     where coalesce(reserved, 0) <> coalesce(held, 0) or coalesce(settled, 0) + coalesce(gone, 0) > 0)::int as misheld,
    (select count(*) from causes where held > gone
     and not exists (select from open_runs where run_id = cause_id))::int as orphaned,
    (select count(*) from causes where gone > 0 and held <> gone)::int as unsettled,
    (select count(*) from runs left join causes on cause_id = run_id
     where coalesce(settled, 0) <> coalesce((cost ->> 'amount')::numeric * 1000000, 0))::int as mischarged,
    (select count(*) from balances full join (select * from budgets where holder_id = '${TENANT_BUDGET_HOLDER}') as kept
       using (tenant_id)
     where coalesce(balances.available, 0) <> coalesce(kept.available, 0))::int as misbalanced,
    (select count(*) from budgets where is_prepaid and available < 0)::int as overdrawn`;
