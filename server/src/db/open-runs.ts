// The runs that are under way, as the engine's helpers see them: start, wake, poll, find what was lost, end. Writes of
// an engine invocation name its epoch; those of one that has been given up on change nothing. Partitioned rows are always
// named by a parameter, never by a sub-select: only then is one partition touched and not all of them.
import type { PublicFault } from "../faults.ts";
import type { Json } from "../kit/shapes.ts";
import type { Database } from "./connect.ts";
import { TOLD } from "./events.ts";
import { BOOKED, EASED, wasted } from "./ledger.ts";
import type { KeptAsset, Result, RunRow } from "./runs.ts";

/** A run in the hands of one engine invocation. */
export type Held = { run_id: string; tenant_id: string; epoch: number };

/** How long a step may be silent before the run counts as lost by the engine. */
const STEP_SECONDS = 120;

export type Begun = Pick<RunRow, "run_id" | "tenant_id" | "user_id" | "plan" | "warnings"> & {
  deadline_at: Date;
  /** What earlier invocations of this run have already made, by job, and who made it. */
  made: Record<string, { files: KeptAsset[]; data?: Json; provider: string; upstream: string }>;
};

export async function beginRun(db: Database, held: Held, eventId: string): Promise<Begun | undefined> {
  const [row] = await db.query<Begun>(
    "open.begin",
    `with mine as (
       update open_runs
       set started_at = coalesce(started_at, now()), alive_until = now() + make_interval(secs => $4), resends = 0
       where run_id = $1 and epoch = $2 returning run_id, deadline_at
     ), started as (
       update runs set status = 'processing', progress = 0.01, started_at = now(), phase = 'submitting', ${TOLD}
       where run_id = $1 and status = 'queued' and exists (select from mine) returning run_id, tenant_id, told_xact
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, xact)
       select run_id, $3, tenant_id, 'run.processing', told_xact from started
     )
     select runs.run_id, runs.tenant_id, runs.user_id, runs.plan, runs.warnings, mine.deadline_at,
       (select coalesce(jsonb_object_agg(job, made || jsonb_build_object('provider', provider, 'upstream', upstream)), '{}')
        from jobs where jobs.run_id = $1 and made is not null) as made
     from runs join mine using (run_id) where runs.run_id = $1`,
    [held.run_id, held.epoch, eventId, STEP_SECONDS],
  );
  return row;
}

/** `doing` is whom it waits for: its provider's gate, or the provider. */
export type Wake = { wakeId: string; seconds: number; doing: "gate" | "vendor" };

/** Says where the run can be woken, and until when it will be silent. Undefined: the run is no longer ours. */
export async function armWake(db: Database, held: Held, { wakeId, seconds, doing }: Wake) {
  const [row] = await db.query<{ canceled: boolean; remaining: number }>(
    "open.arm",
    `update open_runs set wake_id = $3, alive_until = now() + make_interval(secs => $4), doing = $5
     where run_id = $1 and epoch = $2
     returning cancel_requested_at is not null as canceled, extract(epoch from deadline_at - now())::float as remaining`,
    [held.run_id, held.epoch, wakeId, seconds + STEP_SECONDS, doing],
  );
  return row;
}

/** How long the run may still take; a step that asks is alive. Undefined: the run is no longer ours. */
export async function secondsLeft(db: Database, held: Held): Promise<number | undefined> {
  const [row] = await db.query<{ remaining: number }>(
    "open.left",
    `update open_runs set alive_until = now() + make_interval(secs => $3) where run_id = $1 and epoch = $2
     returning extract(epoch from deadline_at - now())::float as remaining`,
    [held.run_id, held.epoch, STEP_SECONDS],
  );
  return row?.remaining;
}

export type End =
  /** `cost` in micro-dollars by the prices at acceptance; null where that is not known. */
  | { status: "completed"; result: Result; provider: string; cost: number | null; warnings: string[] }
  | { status: "failed" | "canceled"; error: PublicFault };

/**
 * Ends a run, once: only the one who deletes its open row may. What it held is settled with it: nobody is charged more than
 * was held, or anything at all for a run that did not complete. `epoch` is left out by the watchdog alone.
 */
export async function endRun(
  db: Database,
  run: { run_id: string; epoch?: number },
  end: End,
  eventId: string,
): Promise<boolean> {
  const completed = end.status === "completed" ? end : undefined;
  const rows = await db.query("open.end", END, [
    ...[run.run_id, run.epoch, end.status, completed ? completed.result : null],
    ...[completed ? null : (end as { error: PublicFault }).error, completed?.cost],
    ...[completed?.provider, JSON.stringify(completed?.warnings ?? []), eventId],
  ]);
  return rows.length > 0;
}

const END = `
  with gone as (
    delete from open_runs where run_id = $1 and ($2::int is null or epoch = $2)
    returning run_id, tenant_id, reserved, held_from, holders,
      case when $6::bigint is not null then least($6, reserved) end as charged
  ), ended as (
    update runs set status = $3, progress = case when $3 = 'completed' then 1 else progress end,
      result = $4, error = $5, provider = coalesce($7, provider), warnings = warnings || $8, phase = null, finished_at = now(),
      cost = (select jsonb_build_object('amount', trim_scale(charged / 1000000.0), 'currency', 'USD')
              from gone where charged is not null), ${TOLD}
    where run_id = $1 and exists (select from gone) returning run_id, tenant_id, status, created_at, told_xact
  ), noted as (
    insert into ended_badly (tenant_id, status, run_id)
    select tenant_id, status, run_id from ended where status <> 'completed'
  ), told as (
    insert into events (run_id, event_id, tenant_id, type, terminal, xact)
    select run_id, $9, tenant_id, 'run.' || status, true, told_xact from ended
  ), bill as (
    select gone.*, ended.created_at as accepted_at,
      coalesce((${wasted("$1", "$3 = 'completed'")}), 0) + greatest($6 - reserved, 0) as wasted
    from gone, ended
  ), ${BOOKED}
  select run_id, ${EASED} from ended`;

/** A run that has not begun is canceled at once; one that has is asked to stop, and says where to wake it. */
export async function cancelRun(db: Database, tenantId: string, runId: string, error: PublicFault, eventId: string) {
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
       update runs set status = 'canceled', error = $3, cancel_requested_at = now(), finished_at = now(), ${TOLD}
       where run_id = $2 and exists (select from gone) returning run_id, tenant_id, created_at, told_xact
     ), listed as (
       insert into ended_badly (tenant_id, status, run_id) select tenant_id, 'canceled', run_id from ended
     ), told as (
       insert into events (run_id, event_id, tenant_id, type, terminal, xact)
       select run_id, $4, tenant_id, 'run.canceled', true, told_xact from ended
     ), bill as (
       select gone.*, ended.created_at as accepted_at, null::bigint as charged, null::bigint as wasted from gone, ended
     ), ${BOOKED}
     select ${EASED}, exists (select from ended) as ended, exists (select from asked) as asked,
       (select wake_id from asked) as wake_id`,
    [tenantId, runId, error, eventId],
  );
  return row!;
}

export type Waiting = Held & {
  job: number;
  try: number;
  provider: string;
  wake_id: string;
  ticket: Json;
  /** Seconds that the provider has not been reachable for this job; 0 where it answered last. */
  silent_for: number;
};

/** Jobs that should be asked about now, each given to one poller. The older a job, the rarer the question. */
export async function takeToPoll(
  db: Database,
  provider: string,
  { limit, everySeconds }: { limit: number; everySeconds: number },
): Promise<Waiting[]> {
  return db.query<Waiting>(
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

export async function noteProgress(db: Database, runId: string, progress: number, eventId: string): Promise<void> {
  await db.query(
    "open.progress",
    `with moved as (
       update runs set progress = $2, phase = 'generating', ${TOLD}
       where run_id = $1 and status = 'processing' and $2 >= progress + 0.04
       returning run_id, tenant_id, progress, told_xact
     )
     insert into events (run_id, event_id, tenant_id, type, data, xact)
     select run_id, $3, tenant_id, 'run.progress', jsonb_build_object('progress', progress), told_xact from moved`,
    [runId, Math.min(0.99, progress), eventId],
  );
}

/** The clock of a provider that cannot be reached: started once, stopped by its first answer. */
export async function noteSilence(db: Database, runId: string, isSilent: boolean): Promise<void> {
  await db.query(
    "open.silence",
    "update open_runs set silent_since = case when $2 then coalesce(silent_since, now()) end where run_id = $1",
    [runId, isSilent],
  );
}

/** The run whose ticket has this value under this name. */
export async function findByTicket(db: Database, provider: string, name: string, value: string) {
  const [row] = await db.query<{ run_id: string; wake_id: string | null }>(
    "open.byTicket",
    "select run_id, wake_id from open_runs where provider = $1 and ticket ->> $2 = $3",
    [provider, name, value],
  );
  return row;
}

/** Somebody rang for this run: if the engine does not answer soon, it has lost it. */
export async function expectSoon(db: Database, runId: string): Promise<void> {
  await db.query(
    "open.soon",
    `update open_runs set alive_until = least(alive_until, now() + interval '60 seconds'), next_poll_at = null, doing = 'work'
     where run_id = $1`,
    [runId],
  );
}

/**
 * Runs that nobody has heard of in time go back to the queue. One that never began is only sent again under its old
 * name, which the engine recognises, because a long queue in the engine is no loss; after ten times it is.
 */
export async function requeueLost(db: Database, limit: number): Promise<Held[]> {
  return db.query<Held>(
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
export async function requeueAll(db: Database): Promise<number> {
  const rows = await db.query(
    "open.requeueAll",
    `update open_runs set dispatched_at = null, doing = null, alive_until = null, next_poll_at = null, wake_id = null,
       epoch = epoch + 1
     where dispatched_at is not null returning run_id`,
  );
  return rows.length;
}

export type Overdue = { run_id: string; provider: string | null; ticket: Json | null };

export async function findOverdue(db: Database, graceSeconds: number, limit: number): Promise<Overdue[]> {
  return db.query<Overdue>(
    "open.overdue",
    `select run_id, provider, ticket from open_runs
     where deadline_at < now() - make_interval(secs => $1) order by deadline_at limit $2`,
    [graceSeconds, limit],
  );
}
