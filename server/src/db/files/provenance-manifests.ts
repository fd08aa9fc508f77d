// Signed provenance manifests (C2PA) of received images, each stored as an asset of its own.

import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import { STORED_KEY_PARAMETER } from "./asset-key.ts";
import type { AssetRow } from "./assets.ts";

export type ProvenanceManifest = Pick<AssetRow, "asset_id" | "storage_key" | "media_type" | "size_bytes" | "sha256"> & {
  provenance_of: string;
  original_sha256: string;
};

const INSERT = statement(
  "provenance_manifests.insert",
  `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256,
                       provenance_of, original_sha256)
   values (:asset_id, :run_id, :tenant_id, 'provenance', ${STORED_KEY_PARAMETER}, :media_type, 0, 0, :size_bytes, :sha256,
     :provenance_of, :original_sha256)
   on conflict do nothing`,
);

/** Idempotent: a manifest that is already stored stays as it is. */
export async function insertProvenanceManifest(
  db: Database,
  run: { run_id: string; tenant_id: string },
  file: ProvenanceManifest,
): Promise<void> {
  await db.execute(INSERT, {
    run_id: run.run_id,
    tenant_id: run.tenant_id,
    asset_id: file.asset_id,
    storage_key: file.storage_key,
    media_type: file.media_type,
    size_bytes: file.size_bytes,
    sha256: file.sha256,
    provenance_of: file.provenance_of,
    original_sha256: file.original_sha256,
  });
}
