// Where a queued run stands, told when one run is read: its place among its tenant's runs that wait for the same provider,
// and when its turn will come if the queue goes on moving as it does.
import { findPlace } from "../db/queue.ts";
import type { RunRow } from "../db/runs.ts";
import type { Run } from "../kit/shapes.ts";
import type { House } from "./house.ts";

type Place = Pick<Run, "queue_position" | "estimated_start_at">;

/** Nothing for a run that does not wait: it has begun, or is about to. */
export async function placeOf(house: House, row: RunRow): Promise<Place | undefined> {
  if (row.status !== "queued") return undefined;
  const place = await findPlace(house.db, row.tenant_id, row.run_id);
  if (!place) return undefined;
  const queue_position = place.ahead + 1;
  if (!place.per_second) return { queue_position };
  const startsAt = new Date(Date.now() + (queue_position / place.per_second) * 1000);
  return { queue_position, estimated_start_at: startsAt.toISOString() };
}
