// The structure of a JPEG, from its first marker to its last: what cameras and editors write between them is told
// apart from the picture.
import { exifOrientation } from "./exif-orientation.ts";
import { damaged, type ImageLayout, pieces, reader } from "./image-layout.ts";

const marker = { start: 0xd8, end: 0xd9, scan: 0xda, huffman: 0xc4, exif: 0xe1 };
/** Baseline, extended and progressive. The lossless and arithmetic kinds are read by hardly anything. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
const otherFrames = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
/** Tables and restarts: what a decoder needs besides the frame and the scans. */
const tables = new Set([marker.huffman, 0xdb, 0xdc, 0xdd]);
/** Application segments that change how the pixels look, by how they begin. */
const looks = new Map([
  [0xe0, "JFIF\0"],
  [0xe2, "ICC_PROFILE\0"],
  [0xee, "Adobe"],
]);

export const isJpeg = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xff && bytes[1] === marker.start && bytes[2] === 0xff;

type Segment = { code: number; start: number; data: Uint8Array; end: number };

export const readJpeg = (bytes: Uint8Array): ImageLayout => {
  const picture = pieces(bytes);
  picture.keep(0, 2);
  let size: { width: number; height: number } | undefined;
  let orientation: number | undefined;
  let hasScan = false;
  for (const { code, start, data, end } of segmentsOf(bytes)) {
    if (otherFrames.has(code) || (frames.has(code) && size)) throw damaged("unknown frame");
    if (frames.has(code)) size = sizeIn(data);
    if (code === marker.scan) hasScan = true;
    if (code === marker.exif && beginsWith(data, "Exif\0\0")) orientation ??= exifOrientation(data);
    if (isWorthKeeping(code, data)) picture.keep(start, end);
  }
  if (!size || !hasScan) throw damaged("no pixels");
  const facts = { media_type: "image/jpeg" as const, ...size, isAnimated: false, orientation: orientation ?? 1 };
  return { ...facts, parts: picture.parts() };
};

function* segmentsOf(bytes: Uint8Array): Generator<Segment> {
  const read = reader(bytes);
  for (let start = 2, code = 0; code !== marker.end; ) {
    if (read.u8(start) !== 0xff) throw damaged("no marker");
    let at = start + 1;
    while (read.u8(at) === 0xff) at++;
    code = read.u8(at);
    if (code === marker.start || code === 0x00) throw damaged("misplaced marker");
    const length = code === marker.end ? 0 : read.u16(at + 1);
    const dataEnd = at + 1 + length;
    if (dataEnd > bytes.byteLength) throw damaged("truncated");
    const end = code === marker.scan ? scanEnd(bytes, dataEnd) : dataEnd;
    yield { code, start, data: bytes.subarray(at + 3, dataEnd), end };
    start = end;
  }
}

/** Inside a scan 0xff is followed by 0x00 or a restart; anything else is the next marker. */
const scanEnd = (bytes: Uint8Array, from: number): number => {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    const isInside = next === 0x00 || (next !== undefined && next >= 0xd0 && next <= 0xd7);
    if (!isInside) return at;
  }
  throw damaged("truncated");
};

const sizeIn = (frame: Uint8Array) => {
  const read = reader(frame);
  return { width: read.u16(3), height: read.u16(1) };
};

const isWorthKeeping = (code: number, data: Uint8Array): boolean => {
  const beginning = looks.get(code);
  if (beginning !== undefined) return beginsWith(data, beginning);
  return tables.has(code) || frames.has(code) || code === marker.scan || code === marker.end;
};

const beginsWith = (data: Uint8Array, text: string): boolean =>
  Buffer.from(data.subarray(0, text.length)).toString("latin1") === text;
