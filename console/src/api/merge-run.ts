// Joins two readings of a run. A list has runs without their attempts, and may have been read before the other reading,
// so neither attempts nor a newer state are lost.
import type { Run } from "@gesso/client";

export function mergeRun<R extends Pick<Run, "updated_at" | "attempts">>(known: R | undefined, read: R): R {
  if (known === undefined) return read;
  if (known.updated_at > read.updated_at) return known;
  return read.attempts === undefined && known.attempts !== undefined ? { ...read, attempts: known.attempts } : read;
}
