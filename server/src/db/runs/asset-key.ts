// The key of a stored file in the object storage, as SQL.

/**
 * `assets.storage_key`, or the key that follows from the row if the column is null: `assetKey` of the storage. This
 * version writes the column in every row; a later one need not.
 */
export const STORAGE_KEY = "asset_key(assets.tenant_id, assets.run_id, assets.sha256, assets.storage_key)";
