// Open runs: start, cancellation, requeue, end. Every write of an engine invocation carries its fencing epoch; a
// write with an old epoch changes nothing.
import type { PublicFault } from "../../faults.ts";
import { isSuspendedSql } from "../access/suspension.ts";
import type { Database } from "../connect.ts";
import { SET_LAST_EVENT_XACT } from "../event-log.ts";
import { canceledCostSql, insertSettlementSql, releaseBudgetsSql, wastedAmountSql } from "../money/ledger.ts";
import { statement } from "../statement.ts";
import { COMPLETED_PLAN } from "./completed-plan.ts";
import { deadlineSql, remainingSql } from "./deadlines.ts";
import { CLAIM_SECONDS, listWakeups } from "./open-requests.ts";
import { IS_OF_END_USER, type StoredRunResult } from "./runs.ts";

/** The deadline of a run in quarantine. Nothing executes such a run until an operator retries or ends it. */
export const QUARANTINE_DEADLINE = "9999-01-01 00:00:00+00";

/** A run claimed by one engine invocation. */
export type RunClaim = { run_id: string; tenant_id: string; epoch: number };

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

export type RunEnd =
  /** `cost` in micro-dollars by the prices at acceptance; null if unknown. */
  | { status: "completed"; result: StoredRunResult; provider: string; cost: number | null; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

const END = statement(
  "open_runs.end",
  `with deleted as (
    delete from open_runs where run_id = :run_id and (:epoch?::int is null or epoch = :epoch?)
    returning run_id, tenant_id, reserved, reserved_from, budget_holders
  ), billed as (
    select reserved, case when cost is not null then least(cost, reserved) end as charged
    from deleted cross join lateral (
      select case when :status = 'canceled' then (${canceledCostSql({ runId: ":run_id" })}) else :cost?::bigint end
    ) as bill (cost)
  ), ended as (
    update runs set status = :status, progress = case when :status = 'completed' then 1 else progress end,
      result = :result?, error = :error?, provider = coalesce(:provider?, provider), warnings = warnings || :warnings,
      phase = null, finished_at = now(), plan = case when :status = 'completed' then ${COMPLETED_PLAN} else plan end,
      cost = (select jsonb_build_object('amount', trim_scale(charged / 1000000.0), 'currency', 'USD')
              from billed where charged is not null), ${SET_LAST_EVENT_XACT}
    where run_id = :run_id and exists (select from deleted)
    returning run_id, tenant_id, status, created_at, last_event_xact
  ), unsuccessful as (
    insert into unsuccessful_runs (tenant_id, status, run_id)
    select tenant_id, status, run_id from ended where status <> 'completed'
  ), requests as (
    -- Read under their locks, so that a ticket that is being saved is waited for and seen.
    select run_id, request_index, attempt_number, provider, ticket from open_requests
    where :epoch?::int is null and run_id in (select run_id from deleted) for update
  ), jobs_to_cancel as (
    insert into outbox (outbox_id, kind, payload)
    select gen_random_uuid(), 'cancel_job', jsonb_build_object('run_id', run_id, 'request_index', request_index,
      'attempt_number', attempt_number, 'provider', provider, 'ticket', ticket)
    from requests where ticket is not null
  ), event as (
    insert into events (run_id, event_id, tenant_id, type, terminal, xact)
    select run_id, :event_id, tenant_id, 'run.' || status, true, last_event_xact from ended
  ), settlement as (
    select deleted.run_id, deleted.tenant_id, deleted.reserved, reserved_from, budget_holders, charged,
      ended.created_at as accepted_at,
      coalesce((${wastedAmountSql({ runId: ":run_id", isDelivered: ":status = 'completed'" })}), 0)
        - case when :status = 'canceled' then coalesce(charged, 0) else 0 end
        + greatest(:cost? - deleted.reserved, 0) as wasted
    from deleted, billed, ended
  ), ${insertSettlementSql({ settlement: "settlement" })}
  select run_id, ${releaseBudgetsSql({ settlement: "settlement" })} from ended`,
);

/**
 * Ends a run once: only the statement that deletes the open_runs row may. It settles the reservation. A
 * completed run is charged its cost and a canceled one what its providers may charge, never more than the reservation;
 * a run with an unknown price has none and is charged its cost. An invocation passes its epoch and has canceled its
 * jobs itself. Without an epoch, the run is ended from outside, and the same statement inserts the jobs that its
 * providers may still be working on into the outbox, which cancels them.
 */
export async function endRun(
  db: Database,
  run: { run_id: string; epoch?: number },
  end: RunEnd,
  eventId: string,
): Promise<boolean> {
  const completed = end.status === "completed" ? end : undefined;
  const rows = await db.execute(END, {
    run_id: run.run_id,
    epoch: run.epoch,
    status: end.status,
    result: completed?.result,
    error: end.status === "completed" ? undefined : end.error,
    cost: completed?.cost,
    provider: completed?.provider,
    warnings: JSON.stringify(completed?.warnings ?? []),
    event_id: eventId,
  });
  return rows.length > 0;
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
     returning open_runs.run_id, open_runs.tenant_id, reserved, reserved_from, budget_holders
   ), requested as (
     update open_runs set cancel_requested_at = coalesce(cancel_requested_at, now())
     from claim where open_runs.run_id = :run_id and claim.started_at is not null and not :is_queued_only
     returning open_runs.run_id
   ), marked as (
     update runs set cancel_requested_at = coalesce(cancel_requested_at, now())
     where run_id = :run_id and exists (select from requested)
   ), ended as (
     update runs
     set status = 'canceled', error = :error, cancel_requested_at = now(), finished_at = now(), ${SET_LAST_EVENT_XACT}
     where run_id = :run_id and exists (select from deleted) returning run_id, tenant_id, created_at, last_event_xact
   ), unsuccessful as (
     insert into unsuccessful_runs (tenant_id, status, run_id) select tenant_id, 'canceled', run_id from ended
   ), event as (
     insert into events (run_id, event_id, tenant_id, type, terminal, xact)
     select run_id, :event_id, tenant_id, 'run.canceled', true, last_event_xact from ended
   ), settlement as (
     select deleted.run_id, deleted.tenant_id, reserved, reserved_from, budget_holders,
       ended.created_at as accepted_at, null::bigint as charged, null::bigint as wasted
     from deleted, ended
   ), ${insertSettlementSql({ settlement: "settlement" })}
   select ${releaseBudgetsSql({ settlement: "settlement" })}, exists (select from ended) as ended,
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
