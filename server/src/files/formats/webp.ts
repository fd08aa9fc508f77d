// Reads a WebP: chunks in a RIFF container, whose header is rewritten if chunks are removed. A mark is appended. A file
// in the simple format then becomes one in the extended format, which alone can have metadata; its pixels stay.
import { exifOrientation } from "./exif-orientation.ts";
import {
  ascii,
  type FileParts,
  type FileWalk,
  rebuildFile,
  UnreadableFile,
  utf8,
  viewOf,
  visitPieces,
} from "./file-parts.ts";
import {
  createBoundedReader,
  createRangeCollector,
  type ImageStructure,
  isIccProfile,
  parseC2paManifest,
  piecesOfWhole,
  undecodableImage,
} from "./image-structure.ts";

const boxBytes = 12;
const chunkHeaderBytes = 8;
const KEPT_CHUNKS = new Set(["VP8X", "ICCP", "ALPH", "VP8 ", "VP8L"]);
const flag = { animation: 0x02, xmp: 0x04, exif: 0x08, alpha: 0x10, profile: 0x20 };

type WebpChunk = { type: string; start: number; data: Uint8Array; end: number };

export const readWebpStructure = (bytes: Uint8Array): ImageStructure => {
  const kept = createRangeCollector(bytes);
  let size: { width: number; height: number } | undefined;
  let isAnimated = false;
  let orientation = 1;
  let hasPixels = false;
  let isLossless = false;
  let manifest: Uint8Array | undefined;
  for (const { type, data, start, end } of piecesOfWhole(chunksOf(bytes))) {
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

/** Of a file that was cut, the chunks before the cut are read. */
function* chunksOf(bytes: Uint8Array): FileWalk<WebpChunk> {
  if (bytes.byteLength < boxBytes) return { isCut: true };
  const view = viewOf(bytes);
  const boxEnd = view.getUint32(4, true) + 8;
  const isCut = boxEnd > bytes.byteLength;
  for (let start = boxBytes; start < boxEnd; ) {
    const dataStart = start + chunkHeaderBytes;
    if (isCut && dataStart > bytes.byteLength) return { isCut };
    if (dataStart > boxEnd) throw new UnreadableFile("truncated");
    const dataEnd = dataStart + view.getUint32(start + 4, true);
    if (isCut && dataEnd > bytes.byteLength) return { isCut };
    if (dataEnd > boxEnd) throw new UnreadableFile("truncated");
    // Chunks are padded to even sizes; some writers forget it at the very end.
    const end = Math.min(dataEnd + ((dataEnd - dataStart) % 2), boxEnd);
    yield { type: ascii(bytes, start, start + 4), start, data: bytes.subarray(dataStart, dataEnd), end };
    start = end;
  }
  return { isCut };
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

export function readWebpParts(bytes: Uint8Array): FileParts {
  const chunks: WebpChunk[] = [];
  const { isCut } = visitPieces(chunksOf(bytes), (chunk) => chunks.push(chunk));
  const find = (type: string) => chunks.find((chunk) => chunk.type === type);
  const xmp = find("XMP ");
  return {
    manifest: find("C2PA")?.data,
    xmp: xmp && utf8(xmp.data),
    cut: isCut ? "headers" : undefined,
    // The format has no field for comments: the packet says the same.
    insert: (packet) => {
      const header = find("VP8X");
      const packets = chunks.filter(({ type }) => type === "XMP ");
      const replaced = header ? [{ start: header.start, end: header.end }] : [];
      const extended = header ? setXmpFlag(header.data) : extendedHeader(chunks);
      const end = chunks.at(-1)!.end;
      // Some writers forget the padding of the last chunk.
      const padding = end % 2 === 1 ? [Buffer.alloc(1)] : [];
      const body = rebuildFile(bytes.subarray(0, end), packets, {
        position: end,
        inserted: [...padding, chunkOf("XMP ", Buffer.from(packet, "utf8"))],
      });
      const file = rebuildFile(body, replaced, { position: boxBytes, inserted: [chunkOf("VP8X", extended)] });
      file.writeUInt32LE(file.byteLength - 8, 4);
      return file;
    },
  };
}

function setXmpFlag(header: Uint8Array): Buffer {
  const copy = Buffer.from(header);
  copy[0] = (copy[0] ?? 0) | flag.xmp;
  return copy;
}

/** The header of the extended format, from the only chunk of the simple format. */
function extendedHeader([pixels]: WebpChunk[]): Buffer {
  const header = Buffer.alloc(10);
  if (!pixels || (pixels.type !== "VP8 " && pixels.type !== "VP8L") || pixels.data.byteLength < 10)
    throw new UnreadableFile("no pixels");
  const view = viewOf(pixels.data);
  if (pixels.type === "VP8L") {
    const bits = view.getUint32(1, true);
    header[0] = flag.xmp | ((bits >>> 28) & 1 ? flag.alpha : 0);
    header.writeUIntLE(bits & 0x3fff, 4, 3);
    header.writeUIntLE((bits >>> 14) & 0x3fff, 7, 3);
    return header;
  }
  header[0] = flag.xmp;
  header.writeUIntLE((view.getUint16(6, true) & 0x3fff) - 1, 4, 3);
  header.writeUIntLE((view.getUint16(8, true) & 0x3fff) - 1, 7, 3);
  return header;
}

function chunkOf(type: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(chunkHeaderBytes);
  head.write(type, 0, "latin1");
  head.writeUInt32LE(data.byteLength, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.byteLength % 2)]);
}
