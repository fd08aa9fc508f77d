// The key of a stored file in the object storage, as SQL.

/** `assets.storage_key`, or the key that follows from the row if the column is null: `assetKey` of the storage. */
export const STORAGE_KEY = "asset_key(assets.tenant_id, assets.run_id, assets.sha256, assets.storage_key)";

type NewFile = { tenant: string; run: string; sha256: string; key: string };

/** What the column of a new row gets, from SQL expressions: null if the key follows from the row, as nearly all do. */
export const storedKeySql = ({ tenant, run, sha256, key }: NewFile) =>
  `nullif(${key}, asset_key(${tenant}, ${run}, ${sha256}, null))`;

/** `storedKeySql` of the parameters with the names of the columns. */
export const STORED_KEY_PARAMETER = storedKeySql({
  tenant: ":tenant_id",
  run: ":run_id",
  sha256: ":sha256",
  key: ":storage_key",
});
