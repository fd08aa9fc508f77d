// Reads the structure of a WebP: chunks in a RIFF container, whose header is rewritten if chunks are removed.
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

const boxBytes = 12;
const chunkHeaderBytes = 8;
const KEPT_CHUNKS = new Set(["VP8X", "ICCP", "ALPH", "VP8 ", "VP8L"]);
const flag = { animation: 0x02, xmp: 0x04, exif: 0x08, profile: 0x20 };

export const isWebp = (bytes: Uint8Array): boolean => {
  const start = Buffer.from(bytes.subarray(0, boxBytes)).toString("latin1");
  return start.startsWith("RIFF") && start.endsWith("WEBP");
};

type WebpChunk = { type: string; start: number; data: Uint8Array; end: number };

export const readWebpStructure = (bytes: Uint8Array): ImageStructure => {
  const kept = createRangeCollector(bytes);
  let size: { width: number; height: number } | undefined;
  let isAnimated = false;
  let orientation = 1;
  let hasPixels = false;
  let isLossless = false;
  let manifest: Uint8Array | undefined;
  for (const { type, data, start, end } of limitSegments(chunksOf(bytes))) {
    // The first chunk with a size is the canvas; libwebp refuses an image that does not fill it.
    size ??= sizeIn(type, data);
    if (type === "VP8 " || type === "VP8L") hasPixels = true;
    if (type === "ANIM" || type === "ANMF" || (type === "VP8X" && createBoundedReader(data).u8(0) & flag.animation))
      isAnimated = true;
    if (type === "EXIF") orientation = exifOrientation(data);
    if (type === "VP8L") isLossless = true;
    if (type === "C2PA") manifest ??= data;
    if (type === "ICCP" && !isIccProfile(data)) continue;
    if (KEPT_CHUNKS.has(type)) kept.keep(start, end);
  }
  if (!size || (!hasPixels && !isAnimated)) throw undecodableImage("no pixels");
  const facts = { media_type: "image/webp" as const, ...size, isAnimated, orientation, isLossless };
  return {
    ...facts,
    isCmyk: false,
    c2paManifest: parseC2paManifest(manifest),
    keptRanges: rebuildRiff(kept.parts()),
  };
};

function* chunksOf(bytes: Uint8Array): Generator<WebpChunk> {
  const read = createBoundedReader(bytes);
  const boxEnd = read.u32(4, true) + 8;
  if (boxEnd > bytes.byteLength) throw undecodableImage("truncated");
  for (let start = boxBytes; start < boxEnd; ) {
    const length = read.u32(start + 4, true);
    const dataStart = start + chunkHeaderBytes;
    if (dataStart + length > boxEnd) throw undecodableImage("truncated");
    // Chunks are padded to even sizes; some writers forget it at the very end.
    const end = Math.min(dataStart + length + (length % 2), boxEnd);
    yield { type: read.text(start, 4), start, data: bytes.subarray(dataStart, dataStart + length), end };
    start = end;
  }
}

const sizeIn = (type: string, data: Uint8Array) => {
  const read = createBoundedReader(data);
  const u24 = (at: number) => read.u16(at, true) + read.u8(at + 2) * 0x10000;
  if (type === "VP8X") return { width: u24(4) + 1, height: u24(7) + 1 };
  if (type === "VP8 ") return { width: read.u16(6, true) & 0x3fff, height: read.u16(8, true) & 0x3fff };
  if (type !== "VP8L") return undefined;
  const bits = read.u32(1, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
};

/** A new RIFF container for the kept chunks, with the flags of removed chunks cleared. */
const rebuildRiff = (chunks: Uint8Array[]): Uint8Array[] => {
  const body = Buffer.concat(chunks);
  if (body.subarray(0, 4).toString("latin1") === "VP8X") {
    const removedFlags =
      flag.xmp | flag.exif | (body.subarray(18, 22).toString("latin1") === "ICCP" ? 0 : flag.profile);
    body[chunkHeaderBytes] = (body[chunkHeaderBytes] ?? 0) & ~removedFlags;
  }
  const box = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  box.writeUInt32LE(body.byteLength + 4, 4);
  return [box, body];
};
