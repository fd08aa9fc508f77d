// Pictures that come with a request, as base64 or as files, are kept before the run is planned: plans, rows and the
// engine's journal only ever hold their names.
import { readFile } from "node:fs/promises";
import { deleteAssetRows, insertSourceAsset } from "../db/runs/assets.ts";
import { Fault } from "../faults.ts";
import { isFilePart } from "../kit/files.ts";
import { decodeInlineImage, findInlineImages, storedAssetReference } from "../kit/image-fields.ts";
import type { ParsedInput } from "../kit/parse.ts";
import type { JsonObject } from "../kit/schemas/run.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";
import type { StoredFile } from "./store-outputs.ts";
import { type StoredSource, storeSource } from "./store-source.ts";

const MAX_INLINE_BYTES = 25 * 1024 * 1024;

export type StagedRequest = { parsed: ParsedInput; files: StoredFile[]; discard(): Promise<void> };

type RunRef = { run_id: string; tenant_id: string };

export async function stageInlineImages(services: Services, run: RunRef, parsed: ParsedInput): Promise<StagedRequest> {
  const found = findInlineImages(parsed.input);
  if (found.length === 0) return { parsed, files: [], discard: async () => {} };
  const files: StoredFile[] = [];
  const storedFiles: NonNullable<StoredSource["provenance"]>[] = [];
  const undo = async () => {
    await deleteAssetRows(
      services.db,
      storedFiles.map((file) => file.asset_id),
    );
    await services.storage.delete(storedFiles.map((file) => file.storage_key));
  };
  let { input, provided } = parsed;
  try {
    for (const { path, value } of found) {
      const asset_id = deriveId(run.run_id, "given", ...path);
      const { file, provenance: evidence } = await storeSource(services, run, {
        asset_id,
        role: "source",
        bytes: await readInlineBytes(value),
      });
      storedFiles.push(file, ...(evidence ? [evidence] : []));
      await insertSourceAsset(services.db, run, file);
      files.push(file);
      input = replaceAt(input, path, storedAssetReference(asset_id));
      provided = replaceAt(provided, path, storedAssetReference(asset_id));
    }
  } catch (thrown) {
    // A request that is refused for its last picture leaves none of the others behind.
    await undo().catch(() => {});
    throw thrown;
  }
  return { parsed: { input, provided }, files, discard: undo };
}

async function readInlineBytes(value: unknown): Promise<Uint8Array> {
  const bytes = isFilePart(value) ? await readFile(value.path) : decodeInlineImage(value)!;
  if (bytes.length > MAX_INLINE_BYTES) throw new Fault("payload_too_large");
  return bytes;
}

function replaceAt(input: JsonObject, [first, ...rest]: (string | number)[], value: unknown): JsonObject {
  const copy = (Array.isArray(input) ? [...input] : { ...input }) as JsonObject;
  copy[first!] = rest.length === 0 ? value : replaceAt(copy[first!] as JsonObject, rest, value);
  return copy;
}
