// Uploads a file as a run that is already completed: the image is inspected, normalized and stored before the run is
// inserted.
import { readFile } from "node:fs/promises";
import type { RequestContext } from "../access/request-context.ts";
import { deleteAssetRows } from "../db/runs/assets.ts";
import { insertUploadRun } from "../db/runs/runs.ts";
import type { FilePart } from "../kit/files.ts";
import type { UploadOptions } from "../kit/operation.ts";
import { type AcceptedRun, findReplayedRun, fingerprintRequest, resolveTreePosition } from "../runs/accept-run.ts";
import { deriveId } from "../runs/ids.ts";
import { buildRunWebhook } from "../runs/run-webhook.ts";
import type { Services } from "../runs/services.ts";
import { storeSource } from "../runs/store-source.ts";

export type UploadDependencies = Pick<Services, "assets" | "images" | "webhooks" | "ids" | "crashPoint">;

export async function uploadFile(
  services: UploadDependencies,
  { database, caller, idempotencyKey }: RequestContext,
  file: FilePart,
  { metadata = {}, webhook_url, webhook_secret, ...uploadDetails }: UploadOptions,
): Promise<AcceptedRun> {
  const fingerprintFields = { metadata, webhook_url, webhook_secret, sha256: file.sha256 };
  const fingerprint = fingerprintRequest("images.upload", { ...uploadDetails, ...fingerprintFields });
  const replay = idempotencyKey && (await findReplayedRun(database, caller, idempotencyKey, fingerprint));
  if (replay) return replay;

  const { parent_run_id, root_run_id, depth } = await resolveTreePosition(database, caller, uploadDetails.parent_id);
  const run_id = services.ids.next();
  const webhook = buildRunWebhook(services.webhooks, { ...caller, run_id }, { webhook_url, webhook_secret });
  const { file: asset, provenance } = await storeSource(
    { ...services, database },
    { ...caller, run_id },
    {
      asset_id: deriveId(run_id, "upload"),
      role: uploadDetails.isMask ? "mask" : "source",
      bytes: await readFile(file.path),
    },
  );
  const row = await insertUploadRun(database, {
    ...caller,
    run_id,
    operation: uploadDetails.isMask ? "images.uploadMask" : "images.upload",
    run_type: uploadDetails.isMask ? "mask-upload" : "upload",
    inputs: { ...uploadDetails },
    plan: [],
    metadata,
    ...webhook,
    warnings: [],
    parent_run_id,
    root_run_id: root_run_id ?? run_id,
    depth,
    lane: "",
    deadlineSeconds: 0,
    idempotency: idempotencyKey ? { key: idempotencyKey, fingerprint } : undefined,
    event_id: deriveId(run_id, "end"),
    asset,
  });
  if (row) return { row, isReplay: false };
  // A concurrent request with the same idempotency key has created the run: remove the file of this one.
  if (provenance) await deleteAssetRows(database, [provenance.asset_id]);
  await services.assets.storage.delete([asset.storage_key, ...(provenance ? [provenance.storage_key] : [])]);
  return (await findReplayedRun(database, caller, idempotencyKey!, fingerprint))!;
}
