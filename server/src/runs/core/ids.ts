// Deterministic ids: a step that is repeated after a crash computes the same id, so its inserts are idempotent.
import { createHash } from "node:crypto";
import type { AttemptRef } from "../../db/attempts/attempts.ts";

/** A UUIDv7 with the time of `runId` and bits hashed from `parts`, so that it sorts beside its run. */
export function deriveId(runId: string, ...parts: (string | number)[]): string {
  const hash = createHash("sha256")
    .update(`${runId} ${parts.join(" ")}`)
    .digest("hex");
  const variant = "89ab"[Number.parseInt(hash[3]!, 16) & 3];
  return `${runId.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

export const processingEventId = ({ run_id }: { run_id: string }): string => deriveId(run_id, "run.processing");

/** The asset id of an image that is fetched for a run. Jobs of one run that use the same URL share the asset. */
export const sourceAssetId = (runId: string, url: string): string => deriveId(runId, "source", url);

/** The asset id of a still that a run takes of a video. */
export const frameAssetId = (runId: string, videoAssetId: string, frame: string): string =>
  deriveId(runId, "frame", videoAssetId, frame);

export const toAttemptRef = (runId: string, requestIndex: number, attemptNumber: number): AttemptRef => ({
  run_id: runId,
  request_index: requestIndex,
  attempt_number: attemptNumber,
});

/** The idempotency key of an attempt, sent to the provider. */
export const attemptKey = ({ run_id, request_index, attempt_number }: AttemptRef): string =>
  `${run_id}.${request_index}.${attempt_number}`;
