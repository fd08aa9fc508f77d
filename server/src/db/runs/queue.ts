// The queue as the dispatcher sees it: for each tenant and each lane a queue of its own, found by index, so that a long
// queue of one costs the others nothing.
import type { Database } from "../connect.ts";
import type { RunClaim } from "./open-runs.ts";

/** Runs of one tenant that wait for one provider. */
export type QueueKey = { tenant_id: string; lane: string };

/** Every queue that holds anything, by leaps over the index: the cost grows with the queues, not with what is in them. */
export async function listQueues(db: Database): Promise<QueueKey[]> {
  return db.query<QueueKey>(
    "queue.list",
    `with recursive found as (
       (select tenant_id, lane from open_runs where dispatched_at is null order by tenant_id, lane limit 1)
       union all
       select next.tenant_id, next.lane from found, lateral (
         select tenant_id, lane from open_runs
         where dispatched_at is null and (tenant_id, lane) > (found.tenant_id, found.lane)
         order by tenant_id, lane limit 1) as next
     )
     select tenant_id, lane from found`,
  );
}

export type DispatchedRun = RunClaim & { lane: string };

/** Takes so many of each queue, oldest first. Fewer than asked for means that the queue is empty. */
export async function claimQueuedRuns(db: Database, picks: (QueueKey & { count: number })[]): Promise<DispatchedRun[]> {
  return db.query<DispatchedRun>(
    "queue.take",
    `update open_runs set dispatched_at = now(), doing = 'work', alive_until = now() + interval '20 seconds'
     where run_id = any (array(
       select first.run_id
       from unnest($1::uuid[], $2::text[], $3::int[]) as asked (tenant_id, lane, count), lateral (
         select run_id from open_runs
         where tenant_id = asked.tenant_id and lane = asked.lane and dispatched_at is null
         order by run_id limit asked.count for update skip locked) as first))
     returning run_id, tenant_id, epoch, lane`,
    [picks.map((each) => each.tenant_id), picks.map((each) => each.lane), picks.map((each) => each.count)],
  );
}

/** What could not be handed to the engine goes back to the queue. */
export async function returnToQueue(db: Database, runs: RunClaim[]): Promise<void> {
  await db.query(
    "queue.putBack",
    `update open_runs set dispatched_at = null, doing = null
     where run_id = any ($1::uuid[]) and epoch = ($2::int[])[array_position($1::uuid[], run_id)] and started_at is null`,
    [runs.map((run) => run.run_id), runs.map((run) => run.epoch)],
  );
}

/**
 * `not_started`: dispatched within the last second and not started; `oldest_wait_seconds` is the longest of their waits.
 * Runs that have waited longer are lost or blocked elsewhere and do not reduce the capacity.
 */
export type LaneLoad = { lane: string; working: number; gated: number; unbegun: number; slowest: number };

/** How many runs we are working on, and how many stand before a provider that takes no more. */
export async function countLaneLoad(db: Database): Promise<LaneLoad[]> {
  return db.query<LaneLoad>(
    "queue.busy",
    `select lane, count(*) filter (where doing = 'work')::int as working,
       count(*) filter (where doing = 'gate')::int as gated,
       count(*) filter (where is_waiting)::int as unbegun,
       coalesce(extract(epoch from now() - min(dispatched_at) filter (where is_waiting)), 0)::float as slowest
     from open_runs, lateral (
       select doing = 'work' and started_at is null and dispatched_at > now() - interval '1 second' as is_waiting) as begins
     where doing <> 'vendor' group by lane`,
  );
}

/** Tenants whose share is not the usual one. */
export async function listTenantWeights(db: Database): Promise<Map<string, number>> {
  const rows = await db.query<{ tenant_id: string; weight: number }>(
    "queue.weights",
    "select tenant_id, weight from tenants where weight <> 1",
  );
  return new Map(rows.map((row) => [row.tenant_id, row.weight]));
}

export async function saveStartRates(db: Database, startRates: Map<string, number>): Promise<void> {
  await db.query(
    "queue.notePace",
    `insert into queue_pace (tenant_id, per_second) select * from unnest($1::uuid[], $2::float[])
     on conflict (tenant_id) do update set per_second = excluded.per_second, noted_at = now()`,
    [[...startRates.keys()], [...startRates.values()]],
  );
}

export type QueueRank = { ahead: number; per_second: number | null };

/** How many runs of its tenant stand before this one, and how fast they go. Nothing when it does not wait. */
export async function findQueueRank(db: Database, tenantId: string, runId: string): Promise<QueueRank | undefined> {
  const [row] = await db.query<QueueRank>(
    "queue.place",
    `select (select count(*) from open_runs as before
         where before.tenant_id = $1 and before.lane = own.lane and before.dispatched_at is null and before.run_id < $2
       )::int as ahead,
       (select per_second from queue_pace where tenant_id = $1 and noted_at > now() - interval '30 seconds') as per_second
     from open_runs as own where run_id = $2 and tenant_id = $1 and dispatched_at is null`,
    [tenantId, runId],
  );
  return row;
}
