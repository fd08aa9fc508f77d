// Makes the thumbnails of a stored file, in 15 s at most, and writes them beside it. Never throws: a result is worth
// more than its thumbnails, so a file whose thumbnails fail is stored without them.

import { createHash } from "node:crypto";
import type { FileToInsert } from "../../db/files/insert-files.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import type { VideoFile } from "../../files/formats/ranged-file.ts";
import type { ThumbnailFile, ThumbnailMaker } from "../../files/images/thumbnail.ts";
import { markFile, readFileParts } from "../../files/provenance/mark-file.ts";
import type { FileMark } from "../../files/provenance/xmp-packet.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import { assetKey } from "../../files/storage/object-storage.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../runtime/clock.ts";
import { deriveId } from "../core/ids.ts";

export type ThumbnailDependencies = {
  assets: Pick<AssetStore, "storage">;
  thumbnails: Pick<ThumbnailMaker, "make">;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "warn">;
};

/** `references` is added to the stored file. The caller inserts the rows of `files` together with that of the file. */
type StoredThumbnails = { references: Pick<StoredAsset, "thumbnails" | "thumbhash">; files: FileToInsert[] };

const NONE: StoredThumbnails = { references: {}, files: [] };

type RunRef = { run_id: string; tenant_id: string };

/** `mark`: what the thumbnails of an output say about what made it. */
type ThumbnailSource = { asset_id: string; file: VideoFile; mark?: FileMark | undefined };

const LIMIT_SECONDS = 15;

export async function storeThumbnails(
  dependencies: ThumbnailDependencies,
  run: RunRef,
  source: ThumbnailSource,
): Promise<StoredThumbnails> {
  try {
    return await makeAndStore(dependencies, run, source);
  } catch (thrown) {
    const { asset_id } = source;
    dependencies.log.warn({ run_id: run.run_id, asset_id, err: thrown }, "file stored without thumbnails");
    return NONE;
  }
}

/**
 * The limit is for making them, and not for storing: a process that is suspended while it writes would give up a file
 * that is then in the storage without a row.
 */
async function makeInTime({ thumbnails, clock }: ThumbnailDependencies, { file, mark }: ThumbnailSource) {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = clock.after(LIMIT_SECONDS * 1000, () => reject(new Error(`no thumbnails within ${LIMIT_SECONDS} s`)));
  try {
    // Outputs that say what made them are also found without their metadata.
    return await Promise.race([thumbnails.make(file, { hasFingerprint: mark !== undefined }), timeout]);
  } finally {
    timer.stop();
  }
}

async function makeAndStore(
  dependencies: ThumbnailDependencies,
  run: RunRef,
  source: ThumbnailSource,
): Promise<StoredThumbnails> {
  const { assets } = dependencies;
  const { asset_id, mark } = source;
  // The copies of a small image are equal: they are one object.
  const puts = new Map<string, Promise<void>>();
  const store = async (size: "small" | "large", { bytes: plain, ...about }: ThumbnailFile): Promise<FileToInsert> => {
    const content = mark ? markFile(readFileParts(plain, about.media_type), plain, mark).bytes : plain;
    const sha256 = createHash("sha256").update(content).digest("hex");
    const storage_key = assetKey(run.tenant_id, run.run_id, sha256);
    if (!puts.has(sha256)) puts.set(sha256, assets.storage.put(storage_key, content, about.media_type));
    await puts.get(sha256);
    const id = deriveId(run.run_id, "thumbnail", asset_id, size);
    return { asset_id: id, ...about, size_bytes: content.byteLength, sha256, role: "thumbnail", storage_key };
  };
  const made = await makeInTime(dependencies, source);
  if (!made) return NONE;
  const { small, large, thumbhash, fingerprint } = made;
  const [smallFile, largeFile] = await Promise.all([store("small", small), store("large", large)]);
  return {
    references: { thumbnails: { small: smallFile.asset_id, large: largeFile.asset_id }, thumbhash },
    files: [{ ...smallFile, ...(fingerprint && { fingerprint }) }, largeFile],
  };
}
