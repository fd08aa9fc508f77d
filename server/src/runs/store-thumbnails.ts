// Makes the thumbnails of a stored file and writes them beside it. Never throws, and takes 15 s at most: a result is
// worth more than its thumbnails, so a file whose thumbnails fail is stored without them.
import { createHash } from "node:crypto";
import type { FileToInsert, StoredAsset } from "../db/runs/runs.ts";
import type { ThumbnailFile, ThumbnailMaker } from "../images/thumbnail.ts";
import type { Log } from "../observe/log.ts";
import type { AssetStore } from "../storage/asset-store.ts";
import { assetKey } from "../storage/object-storage.ts";
import { deriveId } from "./ids.ts";

export type ThumbnailDependencies = {
  assets: Pick<AssetStore, "storage">;
  thumbnails: ThumbnailMaker;
  log: Pick<Log, "warn">;
};

/** `references` is added to the stored file. The caller inserts the rows of `files` together with that of the file. */
type StoredThumbnails = { references: Pick<StoredAsset, "thumbnails" | "thumbhash">; files: FileToInsert[] };

const NONE: StoredThumbnails = { references: {}, files: [] };

type RunRef = { run_id: string; tenant_id: string };

const LIMIT_SECONDS = 15;

export async function storeThumbnails(
  dependencies: ThumbnailDependencies,
  run: RunRef,
  file: { asset_id: string; bytes: Uint8Array },
): Promise<StoredThumbnails> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no thumbnails within ${LIMIT_SECONDS} s`)), LIMIT_SECONDS * 1000);
  });
  try {
    // Work that takes longer goes on. The sweep of orphans deletes what it still stores.
    return await Promise.race([makeAndStore(dependencies, run, file), timeout]);
  } catch (thrown) {
    const { asset_id } = file;
    dependencies.log.warn({ run_id: run.run_id, asset_id, err: thrown }, "file stored without thumbnails");
    return NONE;
  } finally {
    clearTimeout(timer);
  }
}

async function makeAndStore(
  { assets, thumbnails }: ThumbnailDependencies,
  run: RunRef,
  { asset_id, bytes }: { asset_id: string; bytes: Uint8Array },
): Promise<StoredThumbnails> {
  const store = async (size: "small" | "large", { bytes: content, ...about }: ThumbnailFile): Promise<FileToInsert> => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
    await assets.storage.put(storage_key, content, about.media_type);
    const id = deriveId(run.run_id, "thumbnail", asset_id, size);
    return { asset_id: id, ...about, size_bytes: content.byteLength, sha256, role: "thumbnail", storage_key };
  };
  const made = await thumbnails.make(bytes);
  if (!made) return NONE;
  const { small, large, thumbhash } = made;
  const files = await Promise.all([store("small", small), store("large", large)]);
  const [{ asset_id: smallId }, { asset_id: largeId }] = files;
  return { references: { thumbnails: { small: smallId, large: largeId }, thumbhash }, files };
}
