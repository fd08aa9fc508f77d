// Runs whose results were being stored when a worker died. Each death holds the run back for longer, at most for 40 s.
// A run that kills its worker again although it is stored apart from other suspects goes into quarantine.

import type { Database } from "../connect.ts";
import { QUARANTINE_DEADLINE } from "../run-claims.ts";
import { statement } from "../statement.ts";
import { suspendRequestsSql } from "./open-runs.ts";

/** A death of a worker. `wasApart`: the run was known as a suspect, and the only one that the worker stored. */
export type WorkerDeath = { run_id: string; wasApart: boolean; process: string };
export type CountedDeath = { run_id: string; deaths: number; is_quarantined: boolean };

const FIRST_HOLD_SECONDS = 10;
/**
 * 40 s. Workers that die for another reason must not hold a paid run back until its deadline: only what kills them
 * apart from others is to blame, and that is in quarantine by then.
 */
const MAX_HOLD_DOUBLINGS = 2;
/** Deaths after which a run goes into quarantine, if the last of them was apart from other suspects. */
const MAX_DEATHS = 3;
/** Longer than a worker takes to notice that another one died. */
const LEASE_SECONDS = 60;

const COUNT = statement(
  "suspect_runs.count_deaths",
  `with died as (
     select run_id, bool_and(was_apart) as was_apart, min(process) as process
     from unnest(:run_ids::uuid[], :were_apart::boolean[], :processes::text[]) as died (run_id, was_apart, process)
     group by run_id
   ), counted as (
     insert into suspect_runs (run_id, tenant_id, deaths, held_until, processes)
     select run_id, tenant_id, 1, now() + make_interval(secs => :hold_seconds), array[process]
     from open_runs join died using (run_id) where deadline_at < '${QUARANTINE_DEADLINE}' order by run_id
     on conflict (run_id) do update set deaths = suspect_runs.deaths + 1,
       processes = suspect_runs.processes || excluded.processes,
       held_until = now() + make_interval(secs => :hold_seconds * power(2, least(suspect_runs.deaths, ${MAX_HOLD_DOUBLINGS})))
       where not suspect_runs.processes @> excluded.processes
     returning run_id, deaths
   ), changed as (
     update open_runs set dispatched_at = coalesce(dispatched_at, now()), activity = null, claim_expires_at = null,
       epoch = epoch + 1, deadline_at = '${QUARANTINE_DEADLINE}'
     from counted join died using (run_id)
     where open_runs.run_id = counted.run_id and counted.deaths >= :max_deaths and died.was_apart
     returning open_runs.run_id, open_runs.tenant_id, epoch, deaths
   ), ${suspendRequestsSql({ requeued: "changed" })}, entry as (
     insert into audit_log (tenant_id, user_id, action, subject, details)
     select tenant_id, 'gesso', 'admin.quarantine', run_id::text,
       jsonb_build_object('reason', 'worker_died', 'deaths', deaths, 'epoch', epoch)
     from changed
   )
   select counted.run_id, counted.deaths, changed.run_id is not null as is_quarantined
   from counted left join changed using (run_id) order by counted.run_id`,
).columns<{ is_quarantined: boolean }>();

/**
 * Counts the death of a worker for each run whose results it was storing. Runs that have ended are left out, and those
 * for which this death is counted already. All deaths of a call are those of one worker.
 */
export async function countWorkerDeaths(db: Database, deaths: WorkerDeath[]): Promise<CountedDeath[]> {
  if (deaths.length === 0) return [];
  return db.execute(COUNT, {
    run_ids: deaths.map(({ run_id }) => run_id),
    were_apart: deaths.map(({ wasApart }) => wasApart),
    processes: deaths.map(({ process }) => process),
    hold_seconds: FIRST_HOLD_SECONDS,
    max_deaths: MAX_DEATHS,
  });
}

const LIST = statement(
  "suspect_runs.list",
  `with ended as (
     delete from suspect_runs where not exists (select from open_runs where open_runs.run_id = suspect_runs.run_id)
   )
   select run_id, greatest(0, extract(epoch from held_until - now()))::float as held_seconds from suspect_runs`,
).columns<{ held_seconds: number }>();

/** All suspects, and for how long each is held back. Also deletes the rows of runs that have ended. */
export const listSuspectRuns = (db: Database) => db.execute(LIST);

const ACQUIRE = statement(
  "suspect_runs.acquire",
  `with acquired as (
     update suspect_runs set held_until = now() + make_interval(secs => :seconds)
     where run_id = :run_id and held_until <= now() returning run_id
   )
   select exists (select from acquired) as is_acquired, deadline_at >= '${QUARANTINE_DEADLINE}' as is_quarantined,
     greatest(0, extract(epoch from held_until - now()))::float as held_seconds
   from suspect_runs join open_runs using (run_id) where suspect_runs.run_id = :run_id`,
).columns<{ is_acquired: boolean; is_quarantined: boolean; held_seconds: number }>();

/** Takes the lease to store results of the run. Undefined if the run is not a suspect any more. */
export async function acquireSuspectRun(db: Database, runId: string) {
  const [row] = await db.execute(ACQUIRE, { run_id: runId, seconds: LEASE_SECONDS });
  return row;
}

const RELEASE = statement("suspect_runs.release", "update suspect_runs set held_until = now() where run_id = :run_id");

export async function releaseSuspectRun(db: Database, runId: string): Promise<void> {
  await db.execute(RELEASE, { run_id: runId });
}
