// Uploads a file as a run that is already completed: the image is inspected, normalized and stored before the run is
// inserted.

import { readFile } from "node:fs/promises";
import type { RequestContext } from "../access/request-context.ts";
import type { FilePart } from "../contract/files.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { assertFreeStorage } from "../db/files/storage-usage.ts";
import type { NewIdempotencyKey } from "../db/idempotency-keys.ts";
import { insertUploadRun } from "../db/runs/insert-upload.ts";
import type { RunRow } from "../db/runs/runs.ts";
import { discardStagedRun, insertStagedRun } from "../db/runs/staged-runs.ts";
import { Fault } from "../faults/faults.ts";
import type { AssetStore } from "../files/storage/asset-store.ts";
import { createOnce } from "../idempotency/create-once.ts";
import { findReplayedRun, resolveTreePosition } from "../runs/accept/accept-run.ts";
import { resolveEndUser } from "../runs/accept/attribution.ts";
import { buildRunWebhook, type WebhookPolicy } from "../runs/accept/run-webhook.ts";
import { deriveId } from "../runs/core/ids.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import { storeThumbnails, type ThumbnailDependencies } from "../runs/outputs/store-thumbnails.ts";
import type { StagingDependencies } from "../runs/sources/stage-inline-files.ts";
import { writeSource } from "../runs/sources/store-source.ts";

export type UploadDependencies = Omit<StagingDependencies, "database"> &
  ThumbnailDependencies &
  Pick<Runtime, "ids"> & { assets: AssetStore; webhooks: WebhookPolicy };

type UploadOptions = {
  description?: string | undefined;
  parent_id?: string | undefined;
  isMask: boolean;
  metadata?: JsonObject | undefined;
  end_user?: string | undefined;
  webhook_url?: string | undefined;
  webhook_secret?: string | undefined;
};

export async function uploadFile(
  services: UploadDependencies,
  context: RequestContext,
  file: FilePart,
  options: UploadOptions,
): Promise<RunRow> {
  const { end_user: named, ...given } = options;
  const end_user = resolveEndUser(context.caller, named);
  let refusal: Fault | undefined;
  return createOnce(context, {
    operation: "images.upload",
    kind: "run",
    input: { ...options, metadata: options.metadata ?? {}, sha256: file.sha256 },
    create: (idempotency) =>
      services.fileTurns
        .take(context.caller.tenant_id, file.size_bytes, () =>
          storeUpload(services, context, { file, options: given, end_user, idempotency }),
        )
        .catch((thrown) => {
          if (!isQuotaFault(thrown)) throw thrown;
          // A concurrent request with the same idempotency key may have used up the quota: then this one is its replay.
          refusal = thrown;
          return undefined;
        }),
    find: (runId) => findReplayedRun(context.database, context.caller, runId),
    explainRefusal: () => refusal ?? new Fault("idempotency_in_progress"),
  });
}

const isQuotaFault = (thrown: unknown): thrown is Fault =>
  thrown instanceof Fault && thrown.code === "storage_quota_exceeded";

type Upload = {
  file: FilePart;
  options: Omit<UploadOptions, "end_user">;
  end_user: string | null;
  idempotency: NewIdempotencyKey | undefined;
};

/**
 * Returns undefined if another request holds the idempotency key. Throws if the storage quota is used up or the file
 * would exceed it. Both remove the stored file.
 */
async function storeUpload(
  services: UploadDependencies,
  { database, caller, storageLimits }: RequestContext,
  { file, options, end_user, idempotency }: Upload,
): Promise<RunRow | undefined> {
  const { metadata = {}, webhook_url, webhook_secret, ...uploadDetails } = options;
  const { parent_run_id, root_run_id, depth } = await resolveTreePosition(database, caller, uploadDetails.parent_id);
  await assertFreeStorage(database, caller.tenant_id, storageLimits);
  const run_id = services.ids.next();
  const webhook = buildRunWebhook(services.webhooks, { ...caller, run_id }, { webhook_url, webhook_secret });
  // The row of a provenance manifest is inserted before the run. The sweep of staged runs deletes it if the run fails.
  // Files of a run that is not accepted yet belong to no end user.
  const staging = database.forTenant(caller.tenant_id);
  await insertStagedRun(staging, { ...caller, run_id });
  const run = { ...caller, run_id };
  const asset_id = deriveId(run_id, "upload");
  const original = { asset_id, role: uploadDetails.isMask ? "mask" : "source", bytes: await readFile(file.path) };
  const normalized = await services.images.normalize(original.bytes);
  // If the file cannot be stored, the sweep of orphans deletes its thumbnails.
  const [{ file: storedFile, provenance }, { references, files: thumbnailFiles }] = await Promise.all([
    writeSource({ ...services, database: staging }, run, original, normalized),
    storeThumbnails(services, run, { asset_id, file: normalized.bytes }),
  ]);
  const discard = async () => {
    await discardStagedRun(staging, run_id, provenance ? [provenance.asset_id] : []);
    const storedFiles = [storedFile, ...(provenance ? [provenance] : []), ...thumbnailFiles];
    await services.assets.storage.delete(storedFiles.map((each) => each.storage_key));
  };
  const row = await insertUploadRun(database, {
    ...caller,
    run_id,
    end_user,
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
    idempotency,
    event_id: deriveId(run_id, "end"),
    asset: { ...storedFile, ...references },
    thumbnailFiles,
    storageLimits,
  }).catch(async (thrown) => {
    if (isQuotaFault(thrown)) await discard();
    throw thrown;
  });
  if (!row) await discard();
  return row;
}
