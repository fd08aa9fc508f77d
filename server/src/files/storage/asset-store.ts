// The asset store: object storage together with the signed URLs under which its files are served.
import type { AssetUrlSigner } from "./asset-urls.ts";
import type { ObjectStorage } from "./object-storage.ts";

export type AssetStore = {
  storage: ObjectStorage;
  signUrl(assetId: string, mediaType: string): string;
  /** `signatureFile` is the last segment of the URL, such as `mUq0….png`. */
  verifySignature(assetId: string, signatureFile: string): boolean;
  /** Returns the asset id of a URL that this server signed. Such a file is read from storage instead of fetched. */
  findIdByUrl(url: string): string | undefined;
};

export const createAssetStore = (storage: ObjectStorage, urls: AssetUrlSigner, publicUrl: string): AssetStore => ({
  storage,
  signUrl: urls.sign,
  verifySignature: urls.verify,
  findIdByUrl(url) {
    const [assetId = "", signature = ""] = url.startsWith(`${publicUrl}/files/`) ? url.split("/").slice(-2) : [];
    return urls.verify(assetId, signature) ? assetId : undefined;
  },
});
