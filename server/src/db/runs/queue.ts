// The queues of the dispatcher: one per tenant and lane, each found by index, so that a long queue of one tenant
// costs the others nothing.

import type { Job } from "../../contract/operation.ts";
import { isSuspendedSql } from "../access/suspension.ts";
import type { Database } from "../connect.ts";
import type { RunClaim } from "../run-claims.ts";
import { statement } from "../statement.ts";

/** SQL condition: an operator has paused the tenant. */
const isPausedSql = (tenantId: string) =>
  `exists (select from pauses where kind = 'tenant' and name = (${tenantId})::text)`;

/** The queue of one tenant for one provider. */
export type QueueKey = { tenant_id: string; lane: string };

const LIST = statement(
  "queue.list",
  `with recursive found as (
     (select tenant_id, lane from open_runs where dispatched_at is null order by tenant_id, lane limit 1)
     union all
     select next.tenant_id, next.lane from found, lateral (
       select tenant_id, lane from open_runs
       where dispatched_at is null and (tenant_id, lane) > (found.tenant_id, found.lane)
       order by tenant_id, lane limit 1) as next
   )
   select tenant_id, lane from found
   where not ${isSuspendedSql("found.tenant_id")} and not ${isPausedSql("found.tenant_id")}`,
).columns<QueueKey>();

/**
 * Every queue that is not empty, without those of suspended and paused tenants. A loose index scan: the cost grows with
 * the number of queues, not with their length.
 */
export async function listQueues(db: Database): Promise<QueueKey[]> {
  return db.execute(LIST);
}

/** `plan`: null if it is too long for a request to the engine, or if the run was dispatched before. */
export type DispatchedRun = RunClaim & { lane: string; plan: Job[] | null };

/**
 * The commit does not wait for the disk. If PostgreSQL crashes and has lost it, the runs are dispatched again in the
 * same epoch, and the engine knows their invocations. Whatever a worker commits for such a run comes after it in the
 * log, so nothing that depends on the claim is kept without it.
 */
const CLAIM = statement(
  "queue.claim",
  `with claimed as (
     update open_runs
     set dispatched_at = now(), activity = 'working', claim_expires_at = now() + interval '20 seconds'
     where run_id = any (array(
       select first.run_id
       from unnest(:tenant_ids::uuid[], :lanes::text[], :counts::int[]) as pick (tenant_id, lane, count), lateral (
         select run_id from open_runs
         where tenant_id = pick.tenant_id and lane = pick.lane and dispatched_at is null
         order by run_id limit pick.count for update skip locked) as first
       where not ${isSuspendedSql("pick.tenant_id")} and not ${isPausedSql("pick.tenant_id")}))
     returning run_id, tenant_id, epoch, lane
   )
   select run_id, tenant_id, epoch, lane,
     (select plan from runs
      where runs.run_id = claimed.run_id and epoch = 0 and pg_column_size(plan) < :max_plan_bytes) as plan
   from claimed, (select set_config('synchronous_commit', 'off', true)) as without_wait`,
).columns<{ plan: Job[] | null }>();

/** The engine stores what it gets; a longer plan is read by the worker. */
const MAX_PLAN_BYTES = 4096;

/**
 * Claims `count` runs of each queue, oldest first. Fewer runs than requested mean that the queue is empty or its tenant
 * suspended or paused.
 */
export async function claimQueuedRuns(db: Database, picks: (QueueKey & { count: number })[]): Promise<DispatchedRun[]> {
  return db.execute(CLAIM, {
    tenant_ids: picks.map((pick) => pick.tenant_id),
    lanes: picks.map((pick) => pick.lane),
    counts: picks.map((pick) => pick.count),
    max_plan_bytes: MAX_PLAN_BYTES,
  });
}

const RETURN = statement(
  "queue.return",
  `update open_runs set dispatched_at = null, activity = null
   where run_id = any (:run_ids::uuid[]) and epoch = (:epochs::int[])[array_position(:run_ids::uuid[], run_id)]
     and started_at is null`,
);

/** Returns runs to the queue that could not be sent to the engine. */
export async function returnToQueue(db: Database, runs: RunClaim[]): Promise<void> {
  await db.execute(RETURN, { run_ids: runs.map((run) => run.run_id), epochs: runs.map((run) => run.epoch) });
}

/**
 * `not_started`: dispatched within the last second and not started; `oldest_wait_seconds` is the longest of their
 * waits. Runs that have waited longer are lost or blocked elsewhere and do not reduce the capacity.
 */
export type LaneLoad = {
  lane: string;
  working: number;
  waiting_for_slot: number;
  not_started: number;
  oldest_wait_seconds: number;
};

const LANE_LOAD = statement(
  "queue.lane_load",
  `select lane, count(*) filter (where activity = 'working')::int as working,
     count(*) filter (where activity = 'waiting_for_slot')::int as waiting_for_slot,
     count(*) filter (where is_waiting)::int as not_started,
     coalesce(extract(epoch from now() - min(dispatched_at) filter (where is_waiting)), 0)::float as oldest_wait_seconds
   from (
     select lane, activity, dispatched_at,
       started_at is null and dispatched_at > now() - interval '1 second' as is_waiting
     from open_runs where activity = 'working'
     union all
     select lane, activity, null, false from open_requests where activity <> 'at_provider'
   ) as load
   group by lane`,
).columns<LaneLoad>();

/**
 * How many runs and requests are being worked on, and how many requests wait for a slot of their provider, by lane.
 */
export async function countLaneLoad(db: Database): Promise<LaneLoad[]> {
  return db.execute(LANE_LOAD);
}

const LIST_WEIGHTS = statement("queue.list_weights", "select tenant_id, weight from tenants where weight <> 1");

/** Tenants whose weight is not 1. */
export async function listTenantWeights(db: Database): Promise<Map<string, number>> {
  const rows = await db.execute(LIST_WEIGHTS);
  return new Map(rows.map((row) => [row.tenant_id, row.weight]));
}

const SAVE_START_RATES = statement(
  "queue.save_start_rates",
  `insert into queue_start_rates (tenant_id, per_second)
   select tenant_id, per_second from unnest(:tenant_ids::uuid[], :rates::float[]) as rate (tenant_id, per_second)
   on conflict (tenant_id) do update set per_second = excluded.per_second, measured_at = now()`,
);

export async function saveStartRates(db: Database, startRates: Map<string, number>): Promise<void> {
  await db.execute(SAVE_START_RATES, { tenant_ids: [...startRates.keys()], rates: [...startRates.values()] });
}

export type QueueRank = { ahead: number; per_second: number | null };

const RANK = statement(
  "queue.rank",
  `select (select count(*) from open_runs as earlier
       where earlier.tenant_id = :tenant_id and earlier.lane = own.lane and earlier.dispatched_at is null
         and earlier.run_id < :run_id
     )::int as ahead,
     (select per_second from queue_start_rates
      where tenant_id = :tenant_id and measured_at > now() - interval '30 seconds') as per_second
   from open_runs as own where run_id = :run_id and tenant_id = :tenant_id and dispatched_at is null`,
).columns<{ ahead: number }>();

/** How many runs of the queue are before this one, and the starts per second. Undefined if the run is not queued. */
export async function findQueueRank(
  db: Pick<Database, "execute">,
  tenantId: string,
  runId: string,
): Promise<QueueRank | undefined> {
  const [row] = await db.execute(RANK, { tenant_id: tenantId, run_id: runId });
  return row;
}
