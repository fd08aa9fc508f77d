// Stored files, by id, and the provenance manifests of received images, which are files of their own.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { StoredAsset } from "../typed-columns.ts";
import { STORAGE_KEY, STORED_KEY_PARAMETER } from "./asset-key.ts";
import { IS_FILE_WITHIN_QUOTA, type StorageLimits, storageParameters, toStorageFault } from "./storage-usage.ts";

export type AssetRow = StoredAsset & {
  tenant_id: string;
  run_id: string;
  storage_key: string;
  deleted_at: Date | null;
};

const ASSET_COLUMNS = `asset_id, run_id, tenant_id, role, ${STORAGE_KEY} as storage_key, media_type, width, height,
  size_bytes, sha256, deleted_at`;
type DerivedColumns = Pick<AssetRow, "storage_key">;

const FIND = statement(
  "assets.find",
  `select ${ASSET_COLUMNS} from assets where asset_id = :asset_id`,
).columns<DerivedColumns>();

export async function findAsset(db: Database, assetId: string): Promise<AssetRow | undefined> {
  const [row] = await db.execute(FIND, { asset_id: assetId });
  return row;
}

/** Files of the runs of the end user to whom the database is scoped; all if it is not. */
const IS_FILE_OF_END_USER = `(:end_user?::text is null
       or exists (select from runs where runs.run_id = assets.run_id and runs.end_user = :end_user?))`;

const FIND_ALL = statement(
  "assets.find_all",
  `select ${ASSET_COLUMNS} from assets where asset_id = any(:asset_ids::uuid[]) and tenant_id = :tenant_id
     and ${IS_FILE_OF_END_USER}`,
).columns<DerivedColumns>();

export async function findAssets(db: Database, tenantId: string, assetIds: string[]): Promise<AssetRow[]> {
  return db.execute(FIND_ALL, { tenant_id: tenantId, asset_ids: assetIds, end_user: db.endUser });
}

type RunRef = { run_id: string; tenant_id: string };
type NewAsset = StoredAsset & { storage_key: string };

const NEW_ASSET_COLUMNS =
  "asset_id, run_id, tenant_id, role, storage_key, media_type, width, height, size_bytes, sha256";
const isSide = (column: string): boolean => column === "width" || column === "height";
const NEW_ASSET_VALUES = NEW_ASSET_COLUMNS.split(", ")
  .map((column) => (column === "storage_key" ? STORED_KEY_PARAMETER : isSide(column) ? `:${column}?` : `:${column}`))
  .join(", ");

const newAssetParameters = ({ run_id, tenant_id }: RunRef, file: NewAsset) => ({
  run_id,
  tenant_id,
  asset_id: file.asset_id,
  role: file.role,
  storage_key: file.storage_key,
  media_type: file.media_type,
  width: file.width,
  height: file.height,
  size_bytes: file.size_bytes,
  sha256: file.sha256,
});

const INSERT_SOURCE = statement(
  "assets.insert_source",
  `insert into assets (${NEW_ASSET_COLUMNS}) values (${NEW_ASSET_VALUES}) on conflict do nothing`,
);

/** Stores the row of a source that was fetched for a run. Idempotent: the first row stays. */
export async function insertSourceAsset(db: Database, run: RunRef, file: NewAsset): Promise<void> {
  await db.execute(INSERT_SOURCE, newAssetParameters(run, file));
}

const INSERT_STAGED = statement(
  "assets.insert_staged",
  `insert into assets (${NEW_ASSET_COLUMNS}) select ${NEW_ASSET_VALUES} where ${IS_FILE_WITHIN_QUOTA} returning asset_id`,
);

/**
 * Stores the row of an image that came inside a request, before its run is accepted. Throws if the image would exceed
 * the storage quota.
 */
export async function insertStagedAsset(
  db: Database,
  run: RunRef & { storageLimits?: StorageLimits | undefined },
  file: NewAsset,
): Promise<void> {
  const { storageLimits } = run;
  const rows = await db.execute(INSERT_STAGED, {
    ...newAssetParameters(run, file),
    ...storageParameters(storageLimits),
  });
  if (rows.length === 0) throw toStorageFault(storageLimits);
}

type ProvenanceManifest = Pick<AssetRow, "asset_id" | "storage_key" | "media_type" | "size_bytes" | "sha256"> & {
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

/**
 * Inserts the signed provenance manifest (C2PA) of a received image, an asset of its own. Idempotent: a manifest that
 * is already stored stays as it is.
 */
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
