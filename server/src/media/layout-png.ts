// The structure of a PNG: every chunk is walked and every checksum of what we keep is checked, so a file that passes
// arrived whole.
import { crc32, inflateSync } from "node:zlib";
import { exifOrientation } from "./exif-orientation.ts";
import { damaged, type ImageLayout, pieces, reader } from "./image-layout.ts";

const signatureBytes = 8;
/** Length, type and checksum. */
const frameBytes = 12;
const mostProfileBytes = 1024 * 1024;

const needed = ["IHDR", "PLTE", "IDAT", "IEND"];
/** What changes how the pixels look. All text, times, EXIF and private chunks are left out. */
const kept = new Set([...needed, "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI", "sBIT", "pHYs"]);

export const isPng = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, signatureBytes)).toString("latin1") === "\x89PNG\r\n\x1a\n";

type Chunk = { type: string; start: number; data: Uint8Array; end: number };

export const readPng = (bytes: Uint8Array): ImageLayout => {
  const picture = pieces(bytes);
  picture.keep(0, signatureBytes);
  let size: { width: number; height: number } | undefined;
  let isAnimated = false;
  let orientation = 1;
  let hasPixels = false;
  for (const chunk of chunksOf(bytes)) {
    const { type, data } = chunk;
    if ((type === "IHDR") !== (size === undefined)) throw damaged("misplaced header");
    if (type === "IHDR") size = sizeIn(data);
    if (type === "IDAT") hasPixels = true;
    if (type === "acTL") isAnimated = reader(data).u32(0) > 1;
    if (type === "eXIf") orientation = exifOrientation(data);
    if (isWorthKeeping(chunk)) picture.keep(chunk.start, chunk.end);
  }
  if (!size || !hasPixels) throw damaged("no pixels");
  return { media_type: "image/png", ...size, isAnimated, orientation, parts: picture.parts() };
};

function* chunksOf(bytes: Uint8Array): Generator<Chunk> {
  const read = reader(bytes);
  for (let start = signatureBytes, type = ""; type !== "IEND"; ) {
    const length = read.u32(start);
    const end = start + frameBytes + length;
    if (end > bytes.byteLength) throw damaged("truncated");
    type = read.text(start + 4, 4);
    if (kept.has(type) && crc32(bytes.subarray(start + 4, end - 4)) !== read.u32(end - 4)) throw damaged("checksum");
    yield { type, start, data: bytes.subarray(start + 8, end - 4), end };
    start = end;
  }
}

const sizeIn = (header: Uint8Array) => {
  const read = reader(header);
  return { width: read.u32(0), height: read.u32(4) };
};

const isWorthKeeping = ({ type, data }: Chunk): boolean => {
  if (type === "iCCP") return isProfile(data);
  const isCritical = /^[A-Z]/.test(type);
  if (isCritical && !needed.includes(type)) throw damaged("unknown chunk");
  return kept.has(type);
};

/** A profile that does not unpack is left out; one that unpacks without end is an attack on whoever opens it. */
const isProfile = (data: Uint8Array): boolean => {
  const packed = data.subarray(data.indexOf(0) + 2);
  try {
    inflateSync(packed, { maxOutputLength: mostProfileBytes });
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw damaged("colour profile too large");
    return false;
  }
};
