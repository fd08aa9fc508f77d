// Inserts the files of a run as part of a larger statement.
import type { StoredAsset } from "../typed-columns.ts";
import { storedKeySql } from "./asset-key.ts";

/** A stored file whose row is inserted together with its run or its request. */
export type FileToInsert = StoredAsset & {
  storage_key: string;
  /** Zeros and ones. Only small thumbnails of outputs have it. */
  fingerprint?: string;
};

const STORED_KEY = storedKeySql({ tenant: "tenant_id", run: "run_id", sha256: "f.sha256", key: "f.storage_key" });

/**
 * Inserts the files in `files`, an SQL expression, for the run in `run`, a CTE with `run_id` and `tenant_id`. Default:
 * the JSON parameter `files`.
 */
export const insertFilesSql = (
  run: string,
  files = ":files",
) => `insert into assets (asset_id, run_id, tenant_id, role, storage_key,
       media_type, width, height, size_bytes, sha256, fingerprint)
     select f.asset_id, run_id, tenant_id, f.role, ${STORED_KEY}, f.media_type, f.width, f.height, f.size_bytes,
       f.sha256, f.fingerprint
     from ${run}, jsonb_to_recordset(${files}) as f (asset_id uuid, role text, storage_key text, media_type text,
       width int, height int, size_bytes bigint, sha256 text, fingerprint bit(128))`;
