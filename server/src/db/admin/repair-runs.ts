// Repairs of open runs by operators: start a run again, or take it out of execution. Both raise the epoch, so the
// invocation that had the run changes nothing any more, and a job that a provider may have accepted is resolved before
// anything is submitted again.

import { type Actor, actorParameters } from "../access/audit-log.ts";
import type { Database } from "../connect.ts";
import { QUARANTINE_DEADLINE } from "../run-claims.ts";
import { suspendRequestsSql } from "../runs/open-runs.ts";
import { statement } from "../statement.ts";

const insertEntrySql = ({ changed, action }: { changed: string; action: string }) => `entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, :actor_user_id, :actor_key_id?::uuid, '${action}', run_id::text,
       jsonb_build_object('by_tenant', :actor_tenant_id::uuid, 'epoch', epoch)
     from ${changed}
   )`;

const RETRY = statement(
  "repair_runs.retry",
  `with changed as (
     update open_runs set dispatched_at = null, activity = null, claim_expires_at = null, requeue_count = 0,
       epoch = epoch + 1,
       deadline_at = case when deadline_at = '${QUARANTINE_DEADLINE}' then now() + make_interval(secs => :seconds)
         else deadline_at end
     where run_id = :run_id returning run_id, tenant_id, epoch
   ), forgiven as (
     delete from suspect_runs where run_id in (select run_id from changed)
   ), ${suspendRequestsSql({ requeued: "changed" })}, ${insertEntrySql({ changed: "changed", action: "admin.retry" })}
   select epoch from changed`,
);

/**
 * Returns the run to the queue, and forgets the workers that died with it. A quarantined run gets `deadlineSeconds`
 * until its deadline. Undefined if the run is not open; otherwise its new epoch.
 */
export async function retryOpenRun(
  db: Database,
  actor: Actor,
  { run_id, deadlineSeconds }: { run_id: string; deadlineSeconds: number },
): Promise<number | undefined> {
  const [row] = await db.execute(RETRY, { run_id, seconds: deadlineSeconds, ...toParameters(actor) });
  return row?.epoch;
}

const QUARANTINE = statement(
  "repair_runs.quarantine",
  `with changed as (
     update open_runs set dispatched_at = coalesce(dispatched_at, now()), activity = null, claim_expires_at = null,
       epoch = epoch + 1, deadline_at = '${QUARANTINE_DEADLINE}'
     where run_id = :run_id returning run_id, tenant_id, epoch
   ), ${suspendRequestsSql({ requeued: "changed" })}, ${insertEntrySql({ changed: "changed", action: "admin.quarantine" })}
   select epoch from changed`,
);

/**
 * The run stays open, and nothing executes it: it is not in the queue, and neither its claim nor its deadline expires.
 * Undefined if the run is not open; otherwise its new epoch.
 */
export async function quarantineOpenRun(db: Database, actor: Actor, runId: string): Promise<number | undefined> {
  const [row] = await db.execute(QUARANTINE, { run_id: runId, ...toParameters(actor) });
  return row?.epoch;
}

const toParameters = (actor: Actor) => ({ ...actorParameters(actor), actor_tenant_id: actor.tenant_id });

const FIND_STATE = statement("repair_runs.find_state", "select tenant_id, status from runs where run_id = :run_id");

/** The tenant and status of a run. */
export async function findRunToRepair(db: Database, runId: string) {
  const [row] = await db.execute(FIND_STATE, { run_id: runId });
  return row;
}
