// Opens stored files for download. The URL of a deleted file returns asset_expired although its signature is valid.
import type { Database } from "../db/connect.ts";
import { findAsset } from "../db/files/assets.ts";
import { Fault } from "../faults/faults.ts";
import type { AssetStore } from "../files/storage/asset-store.ts";

export type AssetDownload = {
  media_type: string;
  role: string;
  size_bytes: number;
  etag: string;
  read(range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array>>;
};

/** What opens files for download. */
export type DownloadDependencies = { database: Database; assets: Pick<AssetStore, "storage" | "verifySignature"> };

export async function openSignedAsset(
  services: DownloadDependencies,
  assetId: string,
  signatureFile: string,
): Promise<AssetDownload> {
  if (!services.assets.verifySignature(assetId, signatureFile)) throw new Fault("asset_not_found");
  return openAsset(services, assetId);
}

/** Does not check access: the caller of this function must have. */
export async function openAsset({ database, assets }: DownloadDependencies, assetId: string): Promise<AssetDownload> {
  const row = await findAsset(database, assetId);
  if (!row) throw new Fault("asset_not_found");
  if (row.deleted_at) throw new Fault("asset_expired");
  return {
    media_type: row.media_type,
    role: row.role,
    size_bytes: Number(row.size_bytes),
    etag: `"${row.sha256}"`,
    async read(range) {
      const stream = await assets.storage.get(row.storage_key, range);
      if (!stream) throw new Fault("asset_unavailable");
      return stream;
    },
  };
}
