// A stored file, and reading it in ranges, so that a large video is never in memory as a whole.
import type { StoredAsset } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import type { ImageSize } from "../../files/formats/image-size.ts";
import type { RangedFile } from "../../files/formats/ranged-file.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";

export type StoredFile = StoredAsset & { storage_key: string };
export type StoredImage = StoredFile & ImageSize;

/** Reads throw asset_unavailable while the storage does not return the bytes. */
export const openStoredFile = (
  storage: Pick<ObjectStorage, "get">,
  { storage_key, size_bytes }: { storage_key: string; size_bytes: number },
): RangedFile => ({
  sizeBytes: size_bytes,
  async read(start, end) {
    const stream = await storage.get(storage_key, { start, end: end - 1 });
    if (!stream) throw new Fault("asset_unavailable");
    const bytes = Buffer.allocUnsafe(end - start);
    let length = 0;
    try {
      for await (const chunk of stream) {
        bytes.set(chunk.subarray(0, bytes.byteLength - length), length);
        length += chunk.byteLength;
      }
    } catch (cause) {
      throw cause instanceof Fault ? cause : new Fault("asset_unavailable", {}, { cause });
    }
    if (length !== bytes.byteLength)
      throw new Fault("asset_unavailable", {}, { cause: "fewer bytes than were asked for" });
    return bytes;
  },
});
