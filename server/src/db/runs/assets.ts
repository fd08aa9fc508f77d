// Files that are ours, by id: for whoever reads them and for runs that use them as sources.
import type { Database } from "../connect.ts";
import type { StoredAsset } from "./runs.ts";

export type AssetRow = StoredAsset & {
  tenant_id: string;
  run_id: string;
  storage_key: string;
  deleted_at: Date | null;
};

export async function findAsset(db: Database, assetId: string): Promise<AssetRow | undefined> {
  const [row] = await db.query<AssetRow>("assets.find", "select * from assets where asset_id = $1", [assetId]);
  return row;
}

export async function findAssets(db: Database, tenantId: string, assetIds: string[]): Promise<AssetRow[]> {
  return db.query<AssetRow>(
    "assets.findAll",
    "select * from assets where asset_id = any($2::uuid[]) and tenant_id = $1",
    [tenantId, assetIds],
  );
}

/** Keeps a source that was fetched for a run. Fetching it again keeps the first. */
export async function insertSourceAsset(
  db: Database,
  run: { run_id: string; tenant_id: string },
  file: StoredAsset & { storage_key: string },
): Promise<void> {
  await db.query(
    "assets.keep",
    `insert into assets (asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    [
      ...[file.asset_id, run.run_id, run.tenant_id, file.role, file.storage_key, file.media_type],
      ...[file.width, file.height, file.size_bytes, file.sha256],
    ],
  );
}

/** Takes back what was kept for a run that was never accepted. */
export async function deleteAssetRows(db: Database, assetIds: string[]): Promise<void> {
  await db.query("assets.forget", "delete from assets where asset_id = any($1::uuid[])", [assetIds]);
}
