// A customer's picture becomes ours: looked at, cleaned, stored. What it says, signed, about where it came from is kept
// beside it as evidence, because the picture itself is kept without metadata.
import { createHash } from "node:crypto";
import { keepEvidence } from "../db/evidence.ts";
import { assetKey } from "../media/storage.ts";
import type { House } from "./house.ts";
import { idWithin } from "./ids.ts";
import { type Kept, keepFile } from "./store.ts";

type Run = { run_id: string; tenant_id: string };
type Given = { asset_id: string; role: string; bytes: Uint8Array };

/** `evidence` has its row already; the picture's row is written by whoever accepts it. */
export type TakenIn = { file: Kept; evidence?: { asset_id: string; storage_key: string } };

export async function takeIn(house: House, run: Run, { asset_id, role, bytes: given }: Given): Promise<TakenIn> {
  const { bytes, manifest, ...seen } = await house.images.normalize(given);
  const file = await keepFile(house, run, { asset_id, role, bytes, seen });
  if (!manifest) return { file };
  const sha256 = hashOf(manifest);
  const evidence = { asset_id: idWithin(run.run_id, "evidence", asset_id), storage_key: keyOf(run, sha256) };
  await house.storage.put(evidence.storage_key, manifest, "application/c2pa");
  await keepEvidence(house.db, run, {
    ...evidence,
    media_type: "application/c2pa",
    size_bytes: manifest.byteLength,
    sha256,
    evidence_of: asset_id,
    original_sha256: hashOf(given),
  });
  return { file, evidence };
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const keyOf = ({ tenant_id, run_id }: Run, sha256: string) => assetKey(tenant_id, run_id, sha256);
