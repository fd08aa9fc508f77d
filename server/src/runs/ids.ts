// Deterministic ids: a step that is repeated after a crash computes the same id, so its inserts are idempotent.
import { createHash } from "node:crypto";

/** A UUIDv7 with the time of `runId` and bits drawn from `words`: it lies in the same partition as its run. */
export function deriveId(runId: string, ...parts: (string | number)[]): string {
  const hash = createHash("sha256")
    .update(`${runId} ${parts.join(" ")}`)
    .digest("hex");
  const variant = "89ab"[Number.parseInt(hash[3]!, 16) & 3];
  return `${runId.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** The id of a picture that was fetched for a run. Several jobs may use one address; they share the picture. */
export const sourceAssetId = (runId: string, url: string): string => deriveId(runId, "source", url);

/** The name of one try of one job, on our side and the provider's. */
export const attemptKey = (runId: string, job: number, attemptNumber: number): string =>
  `${runId}.${job}.${attemptNumber}`;
