// An upload is a run that has ended when it begins: looked at, kept, and then told.
import { readFile } from "node:fs/promises";
import { forgetAssets } from "../db/assets.ts";
import { acceptUpload, type Caller } from "../db/runs.ts";
import type { FilePart } from "../kit/files.ts";
import type { UploadNotes } from "../kit/operation.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { type Accepted, findReplay, fingerprintOf, placeInTree } from "./start.ts";
import { takeIn } from "./take-in.ts";
import { webhookOf } from "./webhook.ts";

export async function uploadFile(
  house: House,
  caller: Caller,
  file: FilePart,
  notes: UploadNotes & { idempotencyKey?: string | undefined },
): Promise<Accepted> {
  const { idempotencyKey, metadata = {}, webhook_url, webhook_secret, ...about } = notes;
  const told = { metadata, webhook_url, webhook_secret, sha256: file.sha256 };
  const fingerprint = fingerprintOf("images.upload", { ...about, ...told });
  const replay = idempotencyKey && (await findReplay(house, caller, idempotencyKey, fingerprint));
  if (replay) return replay;

  const { parent_run_id, root_run_id, depth } = await placeInTree(house, caller, about.parent_id);
  const run_id = house.newId();
  const webhook = webhookOf(house, { ...caller, run_id }, { webhook_url, webhook_secret });
  const { file: asset, evidence } = await takeIn(
    house,
    { ...caller, run_id },
    { asset_id: idWithin(run_id, "upload"), role: about.isMask ? "mask" : "source", bytes: await readFile(file.path) },
  );
  const row = await acceptUpload(house.db, {
    ...caller,
    run_id,
    operation: about.isMask ? "images.uploadMask" : "images.upload",
    run_type: about.isMask ? "mask-upload" : "upload",
    inputs: { ...about },
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
    event_id: idWithin(run_id, "end"),
    asset,
  });
  if (row) return { row, isReplay: false };
  // Another request with this key was first: its file stays, ours goes.
  if (evidence) await forgetAssets(house.db, [evidence.asset_id]);
  await house.storage.delete([asset.storage_key, ...(evidence ? [evidence.storage_key] : [])]);
  return (await findReplay(house, caller, idempotencyKey!, fingerprint))!;
}
