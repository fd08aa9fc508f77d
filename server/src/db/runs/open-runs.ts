// Open runs: claim, cancellation, requeue. Every write of an engine invocation carries its fencing epoch; a
// write with an old epoch changes nothing.
import type { PublicFault } from "../../faults/faults.ts";
import { isSuspendedSql } from "../access/suspension.ts";
import { listWakeups } from "../attempts/open-requests.ts";
import type { Database } from "../connect.ts";
import { SET_LAST_EVENT_XACT } from "../event-log.ts";
import { CLAIM_SECONDS, deadlineSql, QUARANTINE_DEADLINE, type RunClaim, remainingSql } from "../run-claims.ts";
import { statement } from "../statement.ts";
import { endDeletedRunsSql } from "./end-sql.ts";
import { IS_OF_END_USER } from "./runs.ts";

const RENEW_CLAIM = statement(
  "open_runs.renew_claim",
  `update open_runs set claim_expires_at = now() + make_interval(secs => :seconds)
   where run_id = :run_id and epoch = :epoch
   returning ${remainingSql({ run: "open_runs" })} as remaining, cancel_requested_at is not null as canceled`,
).columns<{ remaining: number; canceled: boolean }>();

/** Renews the claim and returns the seconds until the deadline. Undefined if the claim is lost. */
export async function renewClaim(db: Database, claim: RunClaim): Promise<number | undefined> {
  return (await renewClaimOfStep(db, claim))?.remaining;
}

/** Renews the claim, and also returns whether the run was asked to cancel. Undefined if the claim is lost. */
export async function renewClaimOfStep(
  db: Database,
  { run_id, epoch }: RunClaim,
): Promise<{ remaining: number; canceled: boolean } | undefined> {
  const [row] = await db.execute(RENEW_CLAIM, { run_id, epoch, seconds: CLAIM_SECONDS });
  return row;
}

const CANCEL = statement(
  "open_runs.cancel",
  `with claim as (
     -- Read under the row lock, so that a concurrent start is waited for and seen.
     select run_id, started_at from open_runs where run_id = :run_id and tenant_id = :tenant_id
       and exists (select from runs where runs.run_id = open_runs.run_id and ${IS_OF_END_USER})
     for update
   ), deleted as (
     delete from open_runs using claim
     where open_runs.run_id = :run_id and claim.started_at is null
     returning open_runs.run_id, open_runs.tenant_id, reserved, reserved_from, budget_holders, 'canceled' as status,
       null::jsonb as result, :error::jsonb as error, null::bigint as cost, null as provider, '[]'::jsonb as warnings,
       :event_id::uuid as event_id, null::smallint as request_index, null::smallint as attempt_number,
       now() as canceled_at
   ), requested as (
     update open_runs set cancel_requested_at = coalesce(cancel_requested_at, now())
     from claim where open_runs.run_id = :run_id and claim.started_at is not null and not :is_queued_only
     returning open_runs.run_id
   ), marked as (
     update runs set cancel_requested_at = coalesce(cancel_requested_at, now())
     where run_id = :run_id and exists (select from requested)
   ), ${endDeletedRunsSql({ isAsked: "runs.run_id = :run_id" })}
   select (select count(released) from released) as released, exists (select from ended) as ended,
     exists (select from requested) as is_requested`,
).columns<{ ended: boolean; is_requested: boolean }>();

/**
 * Cancels a run that has not started at once. Otherwise records the cancellation, unless `isQueuedOnly`, and returns
 * where to wake the requests of the run. The wakeups are read afterwards: a request that registers a later one sees the
 * cancellation.
 */
export async function requestCancellation(
  db: Database,
  tenantId: string,
  runId: string,
  error: PublicFault,
  eventId: string,
  isQueuedOnly = false,
): Promise<{ ended: boolean; is_requested: boolean; wakeupIds: string[] }> {
  const run = { tenant_id: tenantId, run_id: runId, is_queued_only: isQueuedOnly, end_user: db.endUser };
  const [row] = await db.execute(CANCEL, { ...run, error, event_id: eventId });
  const { ended, is_requested } = row!;
  return { ended, is_requested, wakeupIds: is_requested ? await listWakeups(db, runId) : [] };
}

const RECORD_PROGRESS = statement(
  "open_runs.record_progress",
  `with advanced as (
     update runs set progress = :progress, phase = 'generating', ${SET_LAST_EVENT_XACT}
     where run_id = :run_id and status = 'processing' and :progress >= progress + 0.04
     returning run_id, tenant_id, progress, last_event_xact
   )
   insert into events (run_id, event_id, tenant_id, type, data, xact)
   select run_id, :event_id, tenant_id, 'run.progress', jsonb_build_object('progress', progress), last_event_xact
   from advanced`,
);

export async function recordProgress(db: Database, runId: string, progress: number, eventId: string): Promise<void> {
  await db.execute(RECORD_PROGRESS, { run_id: runId, progress: Math.min(0.99, progress), event_id: eventId });
}

/**
 * A CTE that stops polling and waking the requests of requeued runs. They keep their provider slots, because their
 * jobs may still be running at the provider.
 */
export const suspendRequestsSql = ({ requeued }: { requeued: string }) => `suspended_requests as (
     update open_requests set wakeup_id = null, next_poll_at = null, activity = null, claim_expires_at = null
     from ${requeued} where open_requests.run_id = ${requeued}.run_id
   )`;

const REQUEUE_EXPIRED = statement(
  "open_runs.requeue_expired",
  `with requeued as (
     update open_runs set dispatched_at = null, activity = null, claim_expires_at = null,
       requeue_count = (requeue_count + 1) % 10,
       epoch = epoch + case when started_at is null and requeue_count < 9 then 0 else 1 end
     where run_id = any (array(
       select open_runs.run_id
       from open_runs left join (
         select run_id, min(claim_expires_at) as expires_at from open_requests group by run_id) as requests using (run_id)
       where coalesce(requests.expires_at, open_runs.claim_expires_at) < now()
       limit :limit for update of open_runs skip locked))
     returning run_id, tenant_id, epoch
   ), ${suspendRequestsSql({ requeued: "requeued" })}
   select run_id, tenant_id, epoch from requeued`,
);

/**
 * Requeues runs whose claim has expired: the claim of any open request, or that of the run if it has none. A run that
 * never started keeps its epoch, so the engine deduplicates it by its idempotency key: a long queue in the engine is no
 * loss. On the tenth requeue, or once started, it gets a new epoch.
 */
export async function requeueExpiredClaims(db: Database, limit: number): Promise<RunClaim[]> {
  return db.execute(REQUEUE_EXPIRED, { limit });
}

/** Locks by id, as statements for many runs do: in another order, two of them would be a deadlock. */
const REQUEUE_ALL = statement(
  "open_runs.requeue_all",
  `with requeued as (
     update open_runs set dispatched_at = null, activity = null, claim_expires_at = null, epoch = epoch + 1
     where run_id = any (array(
       select run_id from open_runs where dispatched_at is not null and deadline_at < '${QUARANTINE_DEADLINE}'
       order by run_id for update))
     returning run_id
   ), ${suspendRequestsSql({ requeued: "requeued" })}
   select run_id from requeued`,
);

/** Requeues every dispatched run that is not in quarantine, after the engine has lost its journal. */
export async function requeueAllRuns(db: Database): Promise<number> {
  const rows = await db.execute(REQUEUE_ALL);
  return rows.length;
}

const REQUEUE_LOST = statement(
  "open_runs.requeue_lost",
  `with requeued as (
     update open_runs set dispatched_at = null, activity = null, claim_expires_at = null, epoch = epoch + 1
     where run_id = any (:run_ids::uuid[])
       and epoch = (:epochs::int[])[array_position(:run_ids::uuid[], run_id)]
     returning run_id
   ), ${suspendRequestsSql({ requeued: "requeued" })}
   select run_id from requeued`,
);

/** Requeues runs whose invocations cannot continue, under a new epoch. */
export async function requeueLostClaims(db: Database, claims: { id: string; epoch: number }[]): Promise<void> {
  if (claims.length === 0) return;
  await db.execute(REQUEUE_LOST, { run_ids: claims.map(({ id }) => id), epochs: claims.map(({ epoch }) => epoch) });
}

const PAUSE = statement(
  "open_runs.pause",
  `with paused as (
     update open_runs set dispatched_at = null, activity = null, claim_expires_at = null, epoch = epoch + 1
     where run_id = :run_id and epoch = :epoch and ${isSuspendedSql("open_runs.tenant_id")}
       and not exists (
         select from attempts where attempts.run_id = :run_id and state in ('intent', 'unknown', 'submitted'))
     returning run_id
   ), released as (
     delete from open_requests where run_id = :run_id and exists (select from paused)
   )
   select run_id from paused`,
);

/**
 * Returns a run of a suspended tenant to the queue, under a new epoch, and frees its provider slots. False if a request
 * of the run is in progress at a provider, the tenant is active or the claim is lost.
 */
export async function pauseRun(db: Database, { run_id, epoch }: RunClaim): Promise<boolean> {
  return (await db.execute(PAUSE, { run_id, epoch })).length > 0;
}

const LIST_OVERDUE = statement(
  "open_runs.list_overdue",
  `select run_id from open_runs
   where deadline_at < now() - make_interval(secs => :grace_seconds)
     and ${deadlineSql({ run: "open_runs" })} < now() - make_interval(secs => :grace_seconds)
     and not exists (
       select from attempts where attempts.run_id = open_runs.run_id and state in ('intent', 'unknown')
         and lease_until > now())
     and (dispatched_at is not null or not ${isSuspendedSql("open_runs.tenant_id")})
   order by deadline_at limit :limit`,
);

/**
 * Without the queued runs of suspended tenants, which get the time of the suspension back, and without runs whose
 * request is in flight: the process that sent it is alive, and its response is paid for.
 */
export async function listOverdueRuns(db: Database, graceSeconds: number, limit: number): Promise<string[]> {
  const rows = await db.execute(LIST_OVERDUE, { grace_seconds: graceSeconds, limit });
  return rows.map(({ run_id }) => run_id);
}
