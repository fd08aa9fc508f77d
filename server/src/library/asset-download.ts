// A stored file on its way out. A deleted file's address stays dead, whatever its signature.
import { findAsset } from "../db/runs/assets.ts";
import { Fault } from "../faults.ts";
import type { Services } from "../runs/services.ts";

export type AssetDownload = {
  media_type: string;
  size_bytes: number;
  etag: string;
  read(range?: { start: number; end: number }): Promise<ReadableStream<Uint8Array>>;
};

export async function openSignedAsset(
  services: Services,
  assetId: string,
  signatureFile: string,
): Promise<AssetDownload> {
  if (!services.isSigned(assetId, signatureFile)) throw new Fault("asset_not_found");
  return openAsset(services, assetId);
}

/** For whoever has already shown that the file is the caller's. */
export async function openAsset(services: Services, assetId: string): Promise<AssetDownload> {
  const row = await findAsset(services.db, assetId);
  if (!row) throw new Fault("asset_not_found");
  if (row.deleted_at) throw new Fault("asset_expired");
  return {
    media_type: row.media_type,
    size_bytes: Number(row.size_bytes),
    etag: `"${row.sha256}"`,
    async read(range) {
      const stream = await services.storage.get(row.storage_key, range);
      if (!stream) throw new Fault("asset_unavailable");
      return stream;
    },
  };
}
