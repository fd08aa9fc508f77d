// Queue position of a run among the runs of its tenant that wait for the same provider, with an estimated start time at
// the current start rate of the queue.
import { findQueueRank } from "../db/runs/queue.ts";
import type { RunRow } from "../db/runs/runs.ts";
import type { Run } from "../kit/schemas/run.ts";
import type { Services } from "../runs/services.ts";

type QueuePosition = Pick<Run, "queue_position" | "estimated_start_at">;

/** Returns undefined for a run that is not queued. */
export async function findQueuePosition(
  { database, clock }: Pick<Services, "database" | "clock">,
  row: RunRow,
): Promise<QueuePosition | undefined> {
  if (row.status !== "queued") return undefined;
  const rank = await findQueueRank(database, row.tenant_id, row.run_id);
  if (!rank) return undefined;
  const queue_position = rank.ahead + 1;
  if (!rank.per_second) return { queue_position };
  const startsAt = new Date(clock.now() + (queue_position / rank.per_second) * 1000);
  return { queue_position, estimated_start_at: startsAt.toISOString() };
}
