// Open runs: start, wakeup, polling, requeue, end. Every write of an engine invocation carries its fencing epoch; a write with
// an old epoch changes nothing. Partitioned tables are always addressed by parameters, so that partition pruning works.
import type { PublicFault } from "../../faults.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import { SET_LAST_EVENT_XACT } from "../event-log.ts";
import { RELEASE_BUDGETS, SETTLEMENT_TRANSFERS, wastedAmountSql } from "../money/ledger.ts";
import type { RunRow, StoredAsset, StoredRunResult } from "./runs.ts";

/** A run in the hands of one engine invocation. */
export type RunClaim = { run_id: string; tenant_id: string; epoch: number };

/** How long a step may be silent before the run counts as lost by the engine. */
const CLAIM_SECONDS = 120;

export type StartedRun = Pick<RunRow, "run_id" | "tenant_id" | "user_id" | "plan" | "warnings"> & {
  deadline_at: Date;
  /** What earlier invocations of this run have already made, by job, and who made it. */
  made: Record<string, { files: StoredAsset[]; data?: JsonObject; provider: string; upstream: string }>;
};

export async function startClaimedRun(db: Database, claim: RunClaim, eventId: string): Promise<StartedRun | undefined> {
  const [row] = await db.query<StartedRun>(
    "open.begin",
    `with mine as (
       update open_runs
       set started_at = coalesce(started_at, now()), alive_until = now() + make_interval(secs => $4), resends = 0
       where run_id = $1 and epoch = $2 returning run_id, deadline_at
     ), started as (
       update runs set status = 'processing', progress = 0.01, started_at = now(), phase = 'submitting', ${SET_LAST_EVENT_XACT}
       where run_id = $1 and status = 'queued' and exists (select from mine) returning run_id, tenant_id, told_xact
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, xact)
       select run_id, $3, tenant_id, 'run.processing', told_xact from started
     )
     select runs.run_id, runs.tenant_id, runs.user_id, runs.plan, runs.warnings, mine.deadline_at,
       (select coalesce(jsonb_object_agg(job, made || jsonb_build_object('provider', provider, 'upstream', upstream)), '{}')
        from jobs where jobs.run_id = $1 and made is not null) as made
     from runs join mine using (run_id) where runs.run_id = $1`,
    [claim.run_id, claim.epoch, eventId, CLAIM_SECONDS],
  );
  return row;
}

/** `doing` is whom it waits for: its provider's gate, or the provider. */
export type WakeupRegistration = { wakeId: string; seconds: number; doing: "gate" | "vendor" };

/** Says where the run can be woken, and until when it will be silent. Undefined: the run is no longer ours. */
export async function armWake(db: Database, claim: RunClaim, { wakeId, seconds, doing }: WakeupRegistration) {
  const [row] = await db.query<{ canceled: boolean; remaining: number }>(
    "open.arm",
    `update open_runs set wake_id = $3, alive_until = now() + make_interval(secs => $4), doing = $5
     where run_id = $1 and epoch = $2
     returning cancel_requested_at is not null as canceled, extract(epoch from deadline_at - now())::float as remaining`,
    [claim.run_id, claim.epoch, wakeId, seconds + CLAIM_SECONDS, doing],
  );
  return row;
}

/** How long the run may still take; a step that asks is alive. Undefined: the run is no longer ours. */
export async function renewClaim(db: Database, claim: RunClaim): Promise<number | undefined> {
  const [row] = await db.query<{ remaining: number }>(
    "open.left",
    `update open_runs set alive_until = now() + make_interval(secs => $3) where run_id = $1 and epoch = $2
     returning extract(epoch from deadline_at - now())::float as remaining`,
    [claim.run_id, claim.epoch, CLAIM_SECONDS],
  );
  return row?.remaining;
}

export type RunEnd =
  /** `cost` in micro-dollars by the prices at acceptance; null where that is not known. */
  | { status: "completed"; result: StoredRunResult; provider: string; cost: number | null; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

/**
 * Ends a run once: only the statement that deletes the open_runs row may. It settles the reservation. Only a
 * completed run is charged, and never more than its reservation; a run with an unknown price has none and is charged its cost.
 * Only the reconciler passes no epoch.
 */
export async function endRun(
  db: Database,
  run: { run_id: string; epoch?: number },
  end: RunEnd,
  eventId: string,
): Promise<boolean> {
  const completed = end.status === "completed" ? end : undefined;
  const rows = await db.query("open.end", END_RUN, [
    ...[run.run_id, run.epoch, end.status, completed ? completed.result : null],
    ...[completed ? null : (end as { error: PublicFault }).error, completed?.cost],
    ...[completed?.provider, JSON.stringify(completed?.warnings ?? []), eventId],
  ]);
  return rows.length > 0;
}

const END_RUN = `
  with gone as (
    delete from open_runs where run_id = $1 and ($2::int is null or epoch = $2)
    returning run_id, tenant_id, reserved, held_from, holders,
      case when $6::bigint is not null then least($6, reserved) end as charged
  ), ended as (
    update runs set status = $3, progress = case when $3 = 'completed' then 1 else progress end,
      result = $4, error = $5, provider = coalesce($7, provider), warnings = warnings || $8, phase = null, finished_at = now(),
      cost = (select jsonb_build_object('amount', trim_scale(charged / 1000000.0), 'currency', 'USD')
              from gone where charged is not null), ${SET_LAST_EVENT_XACT}
    where run_id = $1 and exists (select from gone) returning run_id, tenant_id, status, created_at, told_xact
  ), noted as (
    insert into ended_badly (tenant_id, status, run_id)
    select tenant_id, status, run_id from ended where status <> 'completed'
  ), told as (
    insert into events (run_id, event_id, tenant_id, type, terminal, xact)
    select run_id, $9, tenant_id, 'run.' || status, true, told_xact from ended
  ), bill as (
    select gone.*, ended.created_at as accepted_at,
      coalesce((${wastedAmountSql("$1", "$3 = 'completed'")}), 0) + greatest($6 - reserved, 0) as wasted
    from gone, ended
  ), ${SETTLEMENT_TRANSFERS}
  select run_id, ${RELEASE_BUDGETS} from ended`;

/** A run that has not begun is canceled at once; one that has is asked to stop, and says where to wake it. */
export async function requestCancellation(
  db: Database,
  tenantId: string,
  runId: string,
  error: PublicFault,
  eventId: string,
) {
  const [row] = await db.query<{ ended: boolean; asked: boolean; wake_id: string | null }>(
    "open.cancel",
    `with mine as (
       -- Whether it has begun is read under the lock: a beginning at this very moment is waited for, and then seen.
       select run_id, started_at from open_runs where run_id = $2 and tenant_id = $1 for update
     ), gone as (
       delete from open_runs using mine
       where open_runs.run_id = $2 and mine.started_at is null
       returning open_runs.run_id, open_runs.tenant_id, reserved, held_from, holders
     ), asked as (
       update open_runs set cancel_requested_at = coalesce(cancel_requested_at, now())
       from mine where open_runs.run_id = $2 and mine.started_at is not null
       returning open_runs.run_id, open_runs.wake_id
     ), noted as (
       update runs set cancel_requested_at = coalesce(cancel_requested_at, now()) where run_id = $2 and exists (select from asked)
     ), ended as (
       update runs set status = 'canceled', error = $3, cancel_requested_at = now(), finished_at = now(), ${SET_LAST_EVENT_XACT}
       where run_id = $2 and exists (select from gone) returning run_id, tenant_id, created_at, told_xact
     ), listed as (
       insert into ended_badly (tenant_id, status, run_id) select tenant_id, 'canceled', run_id from ended
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, terminal, xact)
       select run_id, $4, tenant_id, 'run.canceled', true, told_xact from ended
     ), bill as (
       select gone.*, ended.created_at as accepted_at, null::bigint as charged, null::bigint as wasted from gone, ended
     ), ${SETTLEMENT_TRANSFERS}
     select ${RELEASE_BUDGETS}, exists (select from ended) as ended, exists (select from asked) as asked,
       (select wake_id from asked) as wake_id`,
    [tenantId, runId, error, eventId],
  );
  return row!;
}

export type PollableJob = RunClaim & {
  job: number;
  try: number;
  provider: string;
  wake_id: string;
  ticket: JsonObject;
  /** Seconds that the provider has not been reachable for this job; 0 where it answered last. */
  silent_for: number;
};

/** Jobs that should be asked about now, each given to one poller. The older a job, the rarer the question. */
export async function claimJobsToPoll(
  db: Database,
  provider: string,
  { limit, everySeconds }: { limit: number; everySeconds: number },
): Promise<PollableJob[]> {
  return db.query<PollableJob>(
    "open.poll",
    `update open_runs
     set next_poll_at = now() + make_interval(secs => greatest($3, least(15, extract(epoch from now() - submitted_at) / 4)))
     where run_id = any (array(
       select run_id from open_runs where provider = $1 and next_poll_at <= now()
       order by next_poll_at limit $2 for update skip locked))
     returning run_id, tenant_id, epoch, job, try, provider, wake_id, ticket,
       coalesce(extract(epoch from now() - silent_since), 0)::float as silent_for`,
    [provider, limit, everySeconds],
  );
}

export async function recordProgress(db: Database, runId: string, progress: number, eventId: string): Promise<void> {
  await db.query(
    "open.progress",
    `with moved as (
       update runs set progress = $2, phase = 'generating', ${SET_LAST_EVENT_XACT}
       where run_id = $1 and status = 'processing' and $2 >= progress + 0.04
       returning run_id, tenant_id, progress, told_xact
     )
     insert into events (run_id, event_id, tenant_id, type, data, xact)
     select run_id, $3, tenant_id, 'run.progress', jsonb_build_object('progress', progress), told_xact from moved`,
    [runId, Math.min(0.99, progress), eventId],
  );
}

/** The clock of a provider that cannot be reached: started once, stopped by its first answer. */
export async function setProviderUnreachable(db: Database, runId: string, isUnreachable: boolean): Promise<void> {
  await db.query(
    "open.silence",
    "update open_runs set silent_since = case when $2 then coalesce(silent_since, now()) end where run_id = $1",
    [runId, isUnreachable],
  );
}

/** The run whose ticket has this value under this name. */
export async function findRunByTicket(db: Database, provider: string, name: string, value: string) {
  const [row] = await db.query<{ run_id: string; wake_id: string | null }>(
    "open.byTicket",
    "select run_id, wake_id from open_runs where provider = $1 and ticket ->> $2 = $3",
    [provider, name, value],
  );
  return row;
}

/** Somebody rang for this run: if the engine does not answer soon, it has lost it. */
export async function expectResumption(db: Database, runId: string): Promise<void> {
  await db.query(
    "open.soon",
    `update open_runs set alive_until = least(alive_until, now() + interval '60 seconds'), next_poll_at = null, doing = 'work'
     where run_id = $1`,
    [runId],
  );
}

/**
 * Requeues runs whose claim has expired. A run that never started keeps its epoch, so the engine deduplicates it by its
 * idempotency key: a long queue in the engine is no loss. On the tenth requeue, or once started, it gets a new epoch.
 */
export async function requeueExpiredClaims(db: Database, limit: number): Promise<RunClaim[]> {
  return db.query<RunClaim>(
    "open.requeue",
    `update open_runs set dispatched_at = null, doing = null, alive_until = null, next_poll_at = null, wake_id = null,
       resends = (resends + 1) % 10,
       epoch = epoch + case when started_at is null and resends < 9 then 0 else 1 end
     where run_id = any (array(
       select run_id from open_runs where alive_until < now() limit $1 for update skip locked))
     returning run_id, tenant_id, epoch`,
    [limit],
  );
}

/** The engine has forgotten everything: every run it held must be started anew. */
export async function requeueAllRuns(db: Database): Promise<number> {
  const rows = await db.query(
    "open.requeueAll",
    `update open_runs set dispatched_at = null, doing = null, alive_until = null, next_poll_at = null, wake_id = null,
       epoch = epoch + 1
     where dispatched_at is not null returning run_id`,
  );
  return rows.length;
}

export type OverdueRun = { run_id: string; provider: string | null; ticket: JsonObject | null };

export async function listOverdueRuns(db: Database, graceSeconds: number, limit: number): Promise<OverdueRun[]> {
  return db.query<OverdueRun>(
    "open.overdue",
    `select run_id, provider, ticket from open_runs
     where deadline_at < now() - make_interval(secs => $1) order by deadline_at limit $2`,
    [graceSeconds, limit],
  );
}
