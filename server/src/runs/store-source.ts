// A customer's picture becomes ours: looked at, cleaned, stored. What it says, signed, about where it came from is kept
// beside it as evidence, because the picture itself is kept without metadata.
import { createHash } from "node:crypto";
import { insertProvenanceManifest } from "../db/runs/provenance-manifests.ts";
import { assetKey } from "../storage/object-storage.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";
import { type StoredFile, storeFile } from "./store-outputs.ts";

type RunRef = { run_id: string; tenant_id: string };
type SourceUpload = { asset_id: string; role: string; bytes: Uint8Array };

/** `evidence` has its row already; the picture's row is written by whoever accepts it. */
export type StoredSource = { file: StoredFile; provenance?: { asset_id: string; storage_key: string } };

export async function storeSource(
  services: Services,
  run: RunRef,
  { asset_id, role, bytes: given }: SourceUpload,
): Promise<StoredSource> {
  const { bytes, manifest, ...inspected } = await services.images.normalize(given);
  const file = await storeFile(services, run, { asset_id, role, bytes, seen: inspected });
  if (!manifest) return { file };
  const sha256 = sha256Hex(manifest);
  const evidence = { asset_id: deriveId(run.run_id, "evidence", asset_id), storage_key: storageKeyOf(run, sha256) };
  await services.storage.put(evidence.storage_key, manifest, "application/c2pa");
  await insertProvenanceManifest(services.db, run, {
    ...evidence,
    media_type: "application/c2pa",
    size_bytes: manifest.byteLength,
    sha256,
    provenance_of: asset_id,
    original_sha256: sha256Hex(given),
  });
  return { file, provenance: evidence };
}

const sha256Hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const storageKeyOf = ({ tenant_id, run_id }: RunRef, sha256: string) => assetKey(tenant_id, run_id, sha256);
