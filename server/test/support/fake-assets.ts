// An asset store without files, for tests that only render URLs.
import type { AssetStore } from "../../src/files/storage/asset-store.ts";

export const createFakeAssets = (url = ""): AssetStore => ({
  storage: undefined as never,
  signUrl: () => url,
  verifySignature: () => false,
  findIdByUrl: () => undefined,
});
