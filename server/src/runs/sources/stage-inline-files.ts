// Stores images and other files that come inside a request, as base64 or as form files, before the run is planned.
// Plans, rows and the engine's journal then contain asset ids, never bytes.

import { readFile } from "node:fs/promises";
import { isFilePart } from "../../contract/files.ts";
import { decodeInlineImage, findInlineImages, storedAssetReference } from "../../contract/image-fields.ts";
import { decodeDataUrl } from "../../contract/model-run.ts";
import type { ImportedModel } from "../../contract/operation.ts";
import type { ParsedInput } from "../../contract/parse.ts";
import { findFiles, replaceAt } from "../../contract/pinned-model.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../../db/connect.ts";
import { insertStagedAsset } from "../../db/files/assets.ts";
import { assertFreeStorage, type StorageLimits } from "../../db/files/storage-usage.ts";
import { discardStagedRun, insertStagedRun, sweepStagedRows } from "../../db/runs/staged-runs.ts";
import { Fault } from "../../faults/faults.ts";
import { deriveId } from "../core/ids.ts";
import type { Runtime } from "../core/runtime.ts";
import type { StoredFile } from "../outputs/stored-file.ts";
import type { FileTurns } from "./file-turns.ts";
import {
  MAX_SOURCE_BYTES,
  type SourceDependencies,
  type StoredSource,
  storeAnySource,
  storeSource,
} from "./store-source.ts";

/** Longer than any request takes from its first stored image to the acceptance of its run. */
const STAGED_SECONDS = 60 * 60;
const SWEEP_BATCH = 500;

export type StagingDependencies = SourceDependencies & { fileTurns: FileTurns };

/** `discard` removes the stored files again. Call it only if the run was certainly not accepted. */
export type StagedInput = { parsed: ParsedInput; files: StoredFile[]; discard(): Promise<void> };

type StagedRun = { run_id: string; tenant_id: string; storageLimits?: StorageLimits | undefined };

/** `imported`: the model whose schema says where the input has files, of any medium. */
export async function stageInlineFiles(
  dependencies: StagingDependencies,
  run: StagedRun,
  parsed: ParsedInput,
  imported?: ImportedModel,
): Promise<StagedInput> {
  const inlineFiles = imported ? findFilesOfModel(parsed.input, imported) : findInlineImages(parsed.input);
  if (inlineFiles.length === 0) return { parsed, files: [], discard: async () => {} };
  const files: StoredFile[] = [];
  const storedFiles: NonNullable<StoredSource["provenance"]>[] = [];
  const discard = async () => {
    const assetIds = storedFiles.map((file) => file.asset_id);
    await discardStagedRun(dependencies.database, run.run_id, assetIds);
    await dependencies.assets.storage.delete(storedFiles.map((file) => file.storage_key));
  };
  let { input, provided } = parsed;
  await assertFreeStorage(dependencies.database, run.tenant_id, run.storageLimits);
  await insertStagedRun(dependencies.database, run);
  try {
    for (const { path, value } of inlineFiles) {
      const asset_id = deriveId(run.run_id, "given", ...path);
      const storeFile = async () => {
        const bytes = await readInlineBytes(value);
        const store = imported ? storeAnySource : storeSource;
        return store(dependencies, run, { asset_id, role: "source", bytes });
      };
      const { file, provenance } = await dependencies.fileTurns.take(run.tenant_id, sizeOfInline(value), storeFile);
      storedFiles.push(file, ...(provenance ? [provenance] : []));
      await insertStagedAsset(dependencies.database, run, file);
      files.push(file);
      input = replaceAt(input, path, storedAssetReference(asset_id));
      provided = replaceAt(provided, path, storedAssetReference(asset_id));
    }
  } catch (thrown) {
    // The request is refused because of one image: remove the images before it too.
    await discard().catch(() => {});
    throw thrown;
  }
  return { parsed: { input, provided }, files, discard };
}

/** Base64 in any other field of the input is text. */
const findFilesOfModel = ({ input }: JsonObject, { media }: ImportedModel) =>
  findFiles(input, media.input)
    .filter(({ value }) => decodeFile(value) !== undefined)
    .map(({ path, value }) => ({ path: ["input", ...path], value: String(value) }));

const decodeFile = (value: unknown) =>
  decodeInlineImage(value) ?? (typeof value === "string" ? decodeDataUrl(value) : undefined);

async function readInlineBytes(value: unknown): Promise<Uint8Array> {
  const bytes = isFilePart(value) ? await readFile(value.path) : decodeFile(value)!;
  if (bytes.length > MAX_SOURCE_BYTES) throw new Fault("payload_too_large");
  return bytes;
}

/** Of base64, the size of its text: the text is in memory too. */
const sizeOfInline = (value: unknown): number => (isFilePart(value) ? value.size_bytes : String(value).length);

/** Deletes images of requests that ended before their run was accepted. Returns the number of staged runs. */
export async function sweepStagedRuns({
  database,
  ids,
  log,
}: Pick<Runtime, "ids" | "log"> & { database: Database }): Promise<number> {
  const sweep = { ageSeconds: STAGED_SECONDS, limit: SWEEP_BATCH, outboxId: ids.next() };
  const { due, abandoned } = await sweepStagedRows(database, sweep);
  if (abandoned > 0) log.warn({ runs: abandoned }, "images of requests that never became a run deleted");
  return due;
}
