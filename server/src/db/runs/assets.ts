// Stored files, by id.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { StoredAsset } from "./runs.ts";

export type AssetRow = StoredAsset & {
  tenant_id: string;
  run_id: string;
  storage_key: string;
  deleted_at: Date | null;
};

const ASSET_COLUMNS =
  "asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256, deleted_at";

const FIND = statement("assets.find", `select ${ASSET_COLUMNS} from assets where asset_id = :asset_id`);

export async function findAsset(db: Database, assetId: string): Promise<AssetRow | undefined> {
  const [row] = await db.execute(FIND, { asset_id: assetId });
  return row;
}

const FIND_ALL = statement(
  "assets.find_all",
  `select ${ASSET_COLUMNS} from assets where asset_id = any(:asset_ids::uuid[]) and tenant_id = :tenant_id`,
);

export async function findAssets(db: Database, tenantId: string, assetIds: string[]): Promise<AssetRow[]> {
  return db.execute(FIND_ALL, { tenant_id: tenantId, asset_ids: assetIds });
}

const INSERT_SOURCE = statement(
  "assets.insert_source",
  `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256)
   values (:asset_id, :run_id, :tenant_id, :role, :storage_key, :media_type, :width, :height, :size_bytes, :sha256)
   on conflict do nothing`,
);

/** Stores the row of a source that was fetched for a run. Idempotent: the first row stays. */
export async function insertSourceAsset(
  db: Database,
  run: { run_id: string; tenant_id: string },
  file: StoredAsset & { storage_key: string },
): Promise<void> {
  await db.execute(INSERT_SOURCE, {
    run_id: run.run_id,
    tenant_id: run.tenant_id,
    asset_id: file.asset_id,
    role: file.role,
    storage_key: file.storage_key,
    media_type: file.media_type,
    width: file.width,
    height: file.height,
    size_bytes: file.size_bytes,
    sha256: file.sha256,
  });
}
