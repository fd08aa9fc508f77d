// Reads the structure of a PNG, chunk by chunk. The checksums of all kept chunks are verified, so an accepted file is
// complete.
import { crc32, inflateSync } from "node:zlib";
import { exifOrientation } from "./exif-orientation.ts";
import {
  createBoundedReader,
  createRangeCollector,
  type ImageStructure,
  isIccProfile,
  limitSegments,
  parseC2paManifest,
  undecodableImage,
} from "./image-structure.ts";

const signatureBytes = 8;
/** Length, type and checksum. */
const frameBytes = 12;

const needed = ["IHDR", "PLTE", "IDAT", "IEND"];
/** Chunks that affect the pixels. Text, time, EXIF and private chunks are removed. */
const KEPT_CHUNKS = new Set([
  ...needed,
  "tRNS",
  "gAMA",
  "cHRM",
  "sRGB",
  "iCCP",
  "cICP",
  "mDCV",
  "cLLI",
  "sBIT",
  "pHYs",
]);

export const isPng = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, signatureBytes)).toString("latin1") === "\x89PNG\r\n\x1a\n";

type PngChunk = { type: string; start: number; data: Uint8Array; end: number };

export const readPngStructure = (bytes: Uint8Array): ImageStructure => {
  const kept = createRangeCollector(bytes);
  kept.keep(0, signatureBytes);
  let size: { width: number; height: number } | undefined;
  let isAnimated = false;
  let orientation = 1;
  let hasPixels = false;
  let manifest: Uint8Array | undefined;
  const unpack = createInflateBudget();
  for (const chunk of limitSegments(chunksOf(bytes))) {
    const { type, data } = chunk;
    if ((type === "IHDR") !== (size === undefined)) throw undecodableImage("misplaced header");
    if (type === "IHDR") size = sizeIn(data);
    if (type === "IDAT") hasPixels = true;
    if (type === "acTL") isAnimated = createBoundedReader(data).u32(0) > 1;
    if (type === "eXIf") orientation = exifOrientation(data);
    if (type === "caBX") manifest ??= data;
    const at = compressedDataOffset(chunk);
    const unpacked = at === undefined ? undefined : unpack(data.subarray(at));
    // A profile that cannot be read is removed.
    if (type === "iCCP" && !(unpacked && isIccProfile(unpacked))) continue;
    if (isWorthKeeping(chunk)) kept.keep(chunk.start, chunk.end);
  }
  if (!size || !hasPixels) throw undecodableImage("no pixels");
  const facts = { media_type: "image/png" as const, ...size, isAnimated, orientation, isLossless: true };
  return { ...facts, isCmyk: false, c2paManifest: parseC2paManifest(manifest), keptRanges: kept.parts() };
};

function* chunksOf(bytes: Uint8Array): Generator<PngChunk> {
  const read = createBoundedReader(bytes);
  for (let start = signatureBytes, type = ""; type !== "IEND"; ) {
    const length = read.u32(start);
    const end = start + frameBytes + length;
    if (end > bytes.byteLength) throw undecodableImage("truncated");
    type = read.text(start + 4, 4);
    if (KEPT_CHUNKS.has(type) && crc32(bytes.subarray(start + 4, end - 4)) !== read.u32(end - 4))
      throw undecodableImage("checksum");
    yield { type, start, data: bytes.subarray(start + 8, end - 4), end };
    start = end;
  }
}

const sizeIn = (header: Uint8Array) => {
  const read = createBoundedReader(header);
  return { width: read.u32(0), height: read.u32(4) };
};

const isWorthKeeping = ({ type }: PngChunk): boolean => {
  const isCritical = /^[A-Z]/.test(type);
  if (isCritical && !needed.includes(type)) throw undecodableImage("unknown chunk");
  return KEPT_CHUNKS.has(type);
};

/** Offset of the compressed data, in chunks that can hold it. */
const compressedDataOffset = ({ type, data }: PngChunk): number | undefined => {
  const name = data.indexOf(0);
  if (type === "iCCP" || type === "zTXt") return name + 2;
  // A flag tells whether the text is compressed; then follow language and translated keyword.
  if (type !== "iTXt" || data[name + 1] !== 1) return undefined;
  return data.indexOf(0, data.indexOf(0, name + 3) + 1) + 1;
};

/** Maximum total size of all decompressed chunks of a file. */
const mostUnpackedBytes = 1024 * 1024;
/** The maximum compression ratio of deflate. */
const mostRatio = 1032;

/**
 * Decompresses chunks up to a total size, which protects against decompression bombs. Returns undefined for invalid
 * data and once the total is used up.
 */
const createInflateBudget = () => {
  let left = mostUnpackedBytes;
  return (data: Uint8Array): Uint8Array | undefined => {
    if (left <= 0) return undefined;
    try {
      const unpacked = inflateSync(data, { maxOutputLength: left });
      left -= unpacked.byteLength;
      return unpacked;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
        throw undecodableImage("metadata too large");
      // The size reached before the error is unknown, so the maximum is assumed.
      left -= data.byteLength * mostRatio;
      return undefined;
    }
  };
};
