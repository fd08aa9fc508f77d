// Where a queued run stands, told when one run is read: its place among its tenant's runs that wait for the same provider,
// and when its turn will come if the queue goes on moving as it does.
import { findQueueRank } from "../db/runs/queue.ts";
import type { RunRow } from "../db/runs/runs.ts";
import type { Run } from "../kit/schemas/run.ts";
import type { Services } from "../runs/services.ts";

type QueuePosition = Pick<Run, "queue_position" | "estimated_start_at">;

/** Nothing for a run that does not wait: it has begun, or is about to. */
export async function findQueuePosition(services: Services, row: RunRow): Promise<QueuePosition | undefined> {
  if (row.status !== "queued") return undefined;
  const rank = await findQueueRank(services.db, row.tenant_id, row.run_id);
  if (!rank) return undefined;
  const queue_position = rank.ahead + 1;
  if (!rank.per_second) return { queue_position };
  const startsAt = new Date(Date.now() + (queue_position / rank.per_second) * 1000);
  return { queue_position, estimated_start_at: startsAt.toISOString() };
}
