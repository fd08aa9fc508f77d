// The parts of a statement that ends runs: status, event and settlement. They are stated once, for runs that end by the
// system and for queued runs that their caller cancels.
import { SET_LAST_EVENT_XACT } from "../event-log.ts";
import { canceledCostSql, insertSettlementSql, wastedAmountSql } from "../money/ledger.ts";

/** What ends a run, beside the columns of the deleted row of `open_runs`. Null: none. */
export const END_COLUMNS = [
  ...["status", "result", "error", "cost", "provider", "warnings", "event_id"],
  ...["request_index", "attempt_number", "canceled_at"],
];

/**
 * CTEs that end the runs of the CTE `deleted`, which has `run_id`, `tenant_id`, `reserved`, `reserved_from`,
 * `budget_holders` and `END_COLUMNS`. `isAsked` is an SQL condition that finds them in `runs` by their IDs, so that no
 * plan reads other runs. A completed run is charged its cost and a canceled one what its providers may charge, never
 * more than the reservation; a run with an unknown price has none and is charged its cost. The attempt whose output the
 * same statement delivers is no waste.
 *
 * `ended` has the runs that ended; `released` releases their budgets and must be read. It does so in the order of the
 * tenants and of the holders, so that two statements lock budgets in the same order.
 */
export const endDeletedRunsSql = ({ isAsked }: { isAsked: string }) => `billed as (
    select run_id, tenant_id, reserved, reserved_from, budget_holders, ${END_COLUMNS.join(", ")},
      case when bill.amount is not null then least(bill.amount, reserved) end as charged
    from deleted cross join lateral (
      select case when status = 'canceled' then (${canceledCostSql({ runId: "deleted.run_id" })}) else cost end
    ) as bill (amount)
  ), ended as (
    update runs set status = billed.status, progress = case when billed.status = 'completed' then 1 else progress end,
      result = billed.result, error = billed.error, provider = coalesce(billed.provider, runs.provider),
      warnings = runs.warnings || billed.warnings, phase = null, finished_at = now(),
      cancel_requested_at = coalesce(billed.canceled_at, runs.cancel_requested_at),
      plan = case when billed.status = 'completed' then ${COMPLETED_PLAN} else plan end,
      cost = case when charged is not null
        then jsonb_build_object('amount', trim_scale(charged / 1000000.0), 'currency', 'USD') end,
      ${SET_LAST_EVENT_XACT}
    from billed where ${isAsked} and runs.run_id = billed.run_id
    returning runs.run_id, runs.tenant_id, runs.status, created_at, last_event_xact, event_id
  ), unsuccessful as (
    insert into unsuccessful_runs (tenant_id, status, run_id)
    select tenant_id, status, run_id from ended where status <> 'completed'
  ), event as (
    insert into events (run_id, event_id, tenant_id, type, terminal, xact)
    select run_id, event_id, tenant_id, 'run.' || status, true, last_event_xact from ended
  ), settlement as (
    select billed.run_id, billed.tenant_id, reserved, reserved_from, budget_holders, charged,
      ended.created_at as accepted_at,
      coalesce((${wastedAmountSql({
        runId: "billed.run_id",
        isDelivered: "billed.status = 'completed'",
        isNowDelivered: `coalesce(attempts.request_index = billed.request_index
          and attempts.attempt_number = billed.attempt_number, false)`,
      })}), 0)
        - case when billed.status = 'canceled' then coalesce(charged, 0) else 0 end
        + greatest(billed.cost - reserved, 0) as wasted
    from billed join ended using (run_id)
  ), ${insertSettlementSql({ settlement: "settlement" })}, locked as materialized (
    -- All at once: the holders of two runs overlap in any way.
    select budgets.holder_id from budgets join (
      select distinct tenant_id, holder_id from settlement, unnest(budget_holders) as holder_id
    ) as held using (tenant_id, holder_id)
    order by budgets.tenant_id, budgets.holder_id for update of budgets
  ), released as (
    select run_id, case when budget_holders is not null and reserved > coalesce(charged, 0)
      then release_budgets(tenant_id, budget_holders, reserved - coalesce(charged, 0), reserved_from = 'available',
        accepted_at) end as released
    from (
      select run_id, tenant_id, reserved, reserved_from, budget_holders, charged, accepted_at
      from settlement, (select count(*) from locked) as all_locked
      order by tenant_id, budget_holders, run_id
    ) as ordered
  )`;

/**
 * Parameters of provider requests. The inputs of the run have them as the caller sent them, `attempts.request` as the
 * provider got them, and `attempts.price` has the accepted price of the selected offer.
 */
const REQUEST_PARAMETERS = [
  ...["prompt", "negative_prompt", "width", "height", "aspect_ratio", "seed", "count", "request_count", "routing"],
  ...["defaulted", "is_strict", "source_size", "prices", "model_run"],
];

/**
 * SQL expression of what the plan of a run keeps when the run completes, which only layers and trees read: tasks,
 * options and sources of all jobs. A plan of one job without sources says nothing to them and becomes empty, as that of
 * an upload.
 */
export const COMPLETED_PLAN = `case
       when jsonb_array_length(runs.plan) = 1 and not runs.plan -> 0 ?| '{images,mask,masks}' then '[]'
       else coalesce((
         select jsonb_agg(job - '{${REQUEST_PARAMETERS.join(",")}}'::text[] order by job_index)
         from jsonb_array_elements(runs.plan) with ordinality as jobs (job, job_index)), '[]')
     end`;
