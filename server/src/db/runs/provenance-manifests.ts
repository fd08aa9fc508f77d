// What pictures said about where they came from, each a file of its own that names its picture.

import type { Database } from "../connect.ts";
import type { AssetRow } from "./assets.ts";

export type ProvenanceManifest = Pick<AssetRow, "asset_id" | "storage_key" | "media_type" | "size_bytes" | "sha256"> & {
  evidence_of: string;
  original_sha256: string;
};

/** Kept again, it stays what it was. */
export async function insertProvenanceManifest(
  db: Database,
  run: { run_id: string; tenant_id: string },
  file: ProvenanceManifest,
): Promise<void> {
  await db.query(
    "evidence.keep",
    `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256,
                         evidence_of, original_sha256)
     values ($1, $2, $3, 'evidence', $4, $5, 0, 0, $6, $7, $8, $9) on conflict do nothing`,
    [
      ...[file.asset_id, run.run_id, run.tenant_id, file.storage_key, file.media_type, file.size_bytes, file.sha256],
      ...[file.evidence_of, file.original_sha256],
    ],
  );
}
