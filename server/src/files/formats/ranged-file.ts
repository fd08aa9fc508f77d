// A video that is read in ranges, so that a large one is never in memory as a whole. One read is bounded: an index that
// claims to be larger is taken for damaged.
import { BufferSource, CustomSource, type Source } from "mediabunny";

export type RangedFile = {
  sizeBytes: number;
  /** Reads from `start` up to, and not including, `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
};

export type VideoFile = Uint8Array | RangedFile;

const MAX_READ_BYTES = 64 * 1024 * 1024;
const CACHE_BYTES = 4 * 1024 * 1024;

export type MediaSource = {
  source: Source;
  /** What a read of the file has thrown, so that an unavailable storage is not mistaken for a damaged video. */
  failure(): { thrown: unknown } | undefined;
};

export function openMediaSource(file: VideoFile): MediaSource {
  if (file instanceof Uint8Array) return { source: new BufferSource(file), failure: () => undefined };
  let failure: { thrown: unknown } | undefined;
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    if (end - start > MAX_READ_BYTES) throw new Error(`a read of ${end - start} bytes is too large`);
    try {
      return await file.read(start, end);
    } catch (thrown) {
      failure ??= { thrown };
      throw thrown;
    }
  };
  const options = { getSize: () => file.sizeBytes, read, maxCacheSize: CACHE_BYTES, handleUnhandledError: () => {} };
  return { source: new CustomSource({ ...options, prefetchProfile: "network" }), failure: () => failure };
}
