// Ids that can be made twice and come out the same: a step that is done again after a crash keeps what it kept before.
import { createHash } from "node:crypto";

/** A UUIDv7 with the time of `runId` and bits drawn from `words`: it lies in the same partition as its run. */
export function idWithin(runId: string, ...words: (string | number)[]): string {
  const hash = createHash("sha256")
    .update(`${runId} ${words.join(" ")}`)
    .digest("hex");
  const variant = "89ab"[Number.parseInt(hash[3]!, 16) & 3];
  return `${runId.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** The id of a picture that was fetched for a run. Several jobs may use one address; they share the picture. */
export const sourceId = (runId: string, url: string): string => idWithin(runId, "source", url);

/** The name of one try of one job, on our side and the provider's. */
export const attemptKey = (runId: string, job: number, attempt: number): string => `${runId}.${job}.${attempt}`;
