// An upload is a run that has ended when it begins: looked at, kept, and then told.
import { readFile } from "node:fs/promises";
import { deleteAssetRows } from "../db/runs/assets.ts";
import { type Caller, insertUploadRun } from "../db/runs/runs.ts";
import type { FilePart } from "../kit/files.ts";
import type { UploadOptions } from "../kit/operation.ts";
import { type AcceptedRun, findReplayedRun, fingerprintRequest, resolveTreePosition } from "../runs/accept-run.ts";
import { deriveId } from "../runs/ids.ts";
import { buildRunWebhook } from "../runs/run-webhook.ts";
import type { Services } from "../runs/services.ts";
import { storeSource } from "../runs/store-source.ts";

export async function uploadFile(
  services: Services,
  caller: Caller,
  file: FilePart,
  uploadNotes: UploadOptions & { idempotencyKey?: string | undefined },
): Promise<AcceptedRun> {
  const { idempotencyKey, metadata = {}, webhook_url, webhook_secret, ...uploadDetails } = uploadNotes;
  const fingerprintFields = { metadata, webhook_url, webhook_secret, sha256: file.sha256 };
  const fingerprint = fingerprintRequest("images.upload", { ...uploadDetails, ...fingerprintFields });
  const replay = idempotencyKey && (await findReplayedRun(services, caller, idempotencyKey, fingerprint));
  if (replay) return replay;

  const { parent_run_id, root_run_id, depth } = await resolveTreePosition(services, caller, uploadDetails.parent_id);
  const run_id = services.newId();
  const webhook = buildRunWebhook(services, { ...caller, run_id }, { webhook_url, webhook_secret });
  const { file: asset, provenance } = await storeSource(
    services,
    { ...caller, run_id },
    {
      asset_id: deriveId(run_id, "upload"),
      role: uploadDetails.isMask ? "mask" : "source",
      bytes: await readFile(file.path),
    },
  );
  const row = await insertUploadRun(services.db, {
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
  // Another request with this key was first: its file stays, ours goes.
  if (provenance) await deleteAssetRows(services.db, [provenance.asset_id]);
  await services.storage.delete([asset.storage_key, ...(provenance ? [provenance.storage_key] : [])]);
  return (await findReplayedRun(services, caller, idempotencyKey!, fingerprint))!;
}
