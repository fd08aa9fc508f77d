// Completes runs of one provider request: saves the output of the request and ends the run in one statement, fenced by
// the epoch. Runs that complete at the same time share a statement.
import type { Database } from "../connect.ts";
import { SET_LAST_EVENT_XACT } from "../event-log.ts";
import { gather } from "../gather.ts";
import { insertSettlementSql, wastedAmountSql } from "../money/ledger.ts";
import { statement } from "../statement.ts";
import { type AttemptRef, END_LEASE, type RequestOutput, recordSentSql } from "./attempts.ts";
import { COMPLETED_PLAN } from "./completed-plan.ts";
import { insertFilesSql } from "./insert-files.ts";
import type { RunClaim, RunEnd } from "./open-runs.ts";

export type CompletedRun = Extract<RunEnd, { status: "completed" }>;

/**
 * Deleting the open run deletes its request, which frees the provider slot. The budgets are released in the order of
 * the tenants and of the holders, so that two statements lock them in the same order.
 */
const COMPLETE = statement(
  "open_runs.complete",
  `with asked as (
     select run_id, epoch, request_index, attempt_number, files, request, result, cost, provider, warnings, event_id
     from jsonb_to_recordset(:completions::jsonb) as asked (run_id uuid, epoch int, request_index smallint,
       attempt_number smallint, files jsonb, request jsonb, result jsonb, cost bigint, provider text, warnings jsonb,
       event_id uuid)
   ), deleted as (
     delete from open_runs using asked
     where open_runs.run_id = any(:run_ids::uuid[]) and open_runs.run_id = asked.run_id
       and open_runs.epoch = asked.epoch
     returning open_runs.run_id, tenant_id, reserved, reserved_from, budget_holders, request_index, attempt_number,
       files, request, result, cost, provider, warnings, event_id,
       case when cost is not null then least(cost, reserved) end as charged
   ), inserted as (
     ${insertFilesSql("deleted", "deleted.files")}
     on conflict do nothing
   ), succeeded as (
     update attempts set state = 'succeeded', finished_at = now(), ${END_LEASE},
       request = coalesce(deleted.request, attempts.request), ${recordSentSql("deleted.request", { isProven: true })}
     from deleted
     where attempts.run_id = any(:run_ids::uuid[]) and attempts.run_id = deleted.run_id
       and attempts.request_index = deleted.request_index and attempts.attempt_number = deleted.attempt_number
       and state in ('intent', 'unknown', 'submitted')
   ), ended as (
     update runs set status = 'completed', progress = 1, result = deleted.result, provider = deleted.provider,
       warnings = runs.warnings || deleted.warnings, phase = null, finished_at = now(),
       plan = ${COMPLETED_PLAN},
       cost = case when charged is not null
         then jsonb_build_object('amount', trim_scale(charged / 1000000.0), 'currency', 'USD') end,
       ${SET_LAST_EVENT_XACT}
     from deleted where runs.run_id = any(:run_ids::uuid[]) and runs.run_id = deleted.run_id
     returning runs.run_id, runs.tenant_id, created_at, last_event_xact, event_id
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, terminal, xact)
     select run_id, event_id, tenant_id, 'run.completed', true, last_event_xact from ended
   ), settlement as (
     select deleted.run_id, deleted.tenant_id, reserved, reserved_from, budget_holders, charged,
       ended.created_at as accepted_at,
       coalesce((${wastedAmountSql({
         runId: "deleted.run_id",
         isDelivered: "true",
         isNowDelivered:
           "attempts.request_index = deleted.request_index and attempts.attempt_number = deleted.attempt_number",
       })}), 0) + greatest(cost - reserved, 0) as wasted
     from deleted join ended using (run_id)
   ), ${insertSettlementSql({ settlement: "settlement" })}
   select run_id, case when budget_holders is not null and reserved > coalesce(charged, 0)
     then release_budgets(tenant_id, budget_holders, reserved - coalesce(charged, 0), reserved_from = 'available',
       accepted_at) end as released
   from (
     select run_id, tenant_id, reserved, reserved_from, budget_holders, charged, accepted_at
     from settlement order by tenant_id, budget_holders, run_id
   ) as ordered`,
);

type Completion = {
  claim: RunClaim;
  attempt: AttemptRef;
  output: RequestOutput;
  end: CompletedRun;
  eventId: string;
};

const complete = gather<Completion, boolean>({
  keyOf: ({ claim }) => claim.run_id,
  async execute(db, completions) {
    const rows = await db.execute(COMPLETE, {
      run_ids: completions.map(({ claim }) => claim.run_id),
      completions: JSON.stringify(completions.map(toRecord)),
    });
    const completed = new Set(rows.map(({ run_id }) => run_id));
    return completions.map(({ claim }) => completed.has(claim.run_id));
  },
});

const toRecord = ({ claim, attempt, output, end, eventId }: Completion) => ({
  run_id: claim.run_id,
  epoch: claim.epoch,
  request_index: attempt.request_index,
  attempt_number: attempt.attempt_number,
  files: [...output.files, ...(output.thumbnailFiles ?? [])],
  request: output.request,
  result: end.result,
  cost: end.cost,
  provider: end.provider,
  warnings: end.warnings,
  event_id: eventId,
});

/** False if the claim is lost; then nothing is changed. */
export const saveOutputAndComplete = (db: Database, completion: Completion): Promise<boolean> =>
  complete(db, completion);
