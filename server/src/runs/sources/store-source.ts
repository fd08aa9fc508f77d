// Stores a customer's image: inspects it, removes its metadata and writes it to storage. A signed provenance manifest
// (C2PA) is stored beside it, because the stored image no longer contains it. A file of another medium, for a model
// that takes it, is stored as it is.
import { createHash } from "node:crypto";
import type { Database } from "../../db/connect.ts";
import { insertProvenanceManifest } from "../../db/files/assets.ts";
import { detectMediaType, HEAD_BYTES } from "../../files/formats/detect-media-type.ts";
import { detectType } from "../../files/formats/detect-type.ts";
import type { NormalizedImage } from "../../files/images/image-decoder.ts";
import { assetKey } from "../../files/storage/object-storage.ts";
import { deriveId } from "../core/ids.ts";
import type { ProvenanceDependencies } from "../outputs/output-provenance.ts";
import { type FileDependencies, storeFile } from "../outputs/store-outputs.ts";
import type { StoredFile, StoredImage } from "../outputs/stored-file.ts";

export type SourceDependencies = FileDependencies &
  Pick<ProvenanceDependencies, "provenance" | "findProvenancePolicy"> & { database: Database };

type RunRef = { run_id: string; tenant_id: string };
type SourceUpload = { asset_id: string; role: string; bytes: Uint8Array };

/** The row of `provenance` exists already; the caller inserts the row of `file` when it accepts the image. */
export type StoredSource = { file: StoredImage; provenance?: { asset_id: string; storage_key: string } };

export const MAX_SOURCE_BYTES = 25 * 1024 * 1024;

/** Whether the file is an image in a format that Gesso decodes, by its first bytes. */
export const isImageToRead = (head: Uint8Array): boolean => detectType(head)?.startsWith("image/") === true;

/** A source of any medium, for a model whose own schema says what it takes. */
export async function storeAnySource(
  dependencies: SourceDependencies,
  run: RunRef,
  source: SourceUpload,
): Promise<{ file: StoredFile; provenance?: StoredSource["provenance"] }> {
  const { asset_id, role, bytes } = source;
  if (isImageToRead(bytes)) return storeSource(dependencies, run, source);
  const media_type = await detectMediaType(bytes.subarray(0, HEAD_BYTES));
  const sha256 = sha256Hex(bytes);
  const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
  await dependencies.assets.storage.put(storage_key, bytes, media_type);
  const size_bytes = bytes.byteLength;
  return { file: { asset_id, media_type, width: null, height: null, size_bytes, sha256, role, storage_key } };
}

export async function storeSource(
  dependencies: SourceDependencies,
  run: RunRef,
  source: SourceUpload,
): Promise<StoredSource> {
  return writeSource(dependencies, run, source, await dependencies.images.normalize(source.bytes));
}

/** Writes a source that is normalized already. Idempotent: it can be repeated if the storage failed. */
export async function writeSource(
  dependencies: SourceDependencies,
  run: RunRef,
  { asset_id, role, bytes: original }: SourceUpload,
  { bytes: normalized, manifest, ...inspected }: NormalizedImage,
): Promise<StoredSource> {
  if (!manifest) return { file: await storeFile(dependencies, run, { asset_id, role, bytes: normalized, inspected }) };
  const { mode } = await dependencies.findProvenancePolicy(run.tenant_id);
  const source = { run_id: run.run_id, asset_id, bytes: normalized, media_type: inspected.media_type };
  const received = { bytes: original, media_type: inspected.media_type };
  // The signature says what the received manifest was worth, which the stored image alone does not show.
  const bytes = mode === "sign" ? await dependencies.provenance.signSource(source, received) : normalized;
  const file = await storeFile(dependencies, run, { asset_id, role, bytes, inspected });
  const sha256 = sha256Hex(manifest);
  const provenance = {
    asset_id: deriveId(run.run_id, "evidence", asset_id),
    storage_key: assetKey(run.tenant_id, run.run_id, sha256),
  };
  await dependencies.assets.storage.put(provenance.storage_key, manifest, "application/c2pa");
  await insertProvenanceManifest(dependencies.database, run, {
    ...provenance,
    media_type: "application/c2pa",
    size_bytes: manifest.byteLength,
    sha256,
    provenance_of: asset_id,
    original_sha256: sha256Hex(original),
  });
  return { file, provenance };
}

const sha256Hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
