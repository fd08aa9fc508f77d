// Reads the structure of a JPEG, marker by marker, and separates pixels from metadata.
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

const marker = { start: 0xd8, end: 0xd9, scan: 0xda, huffman: 0xc4, exif: 0xe1, profile: 0xe2, box: 0xeb };
/** Baseline, extended and progressive. Few decoders support the lossless and arithmetic variants. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
const otherFrames = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
/** Tables and restart intervals, which a decoder needs besides frame and scans. */
const tables = new Set([marker.huffman, 0xdb, 0xdc, 0xdd]);
/** Application segments that affect the pixels: their prefix, and their length without hidden data. */
const APPEARANCE_SEGMENTS = new Map([
  [0xe0, { beginning: "JFIF\0", length: 14 }],
  [0xee, { beginning: "Adobe", length: 12 }],
]);
/** Identifier, part number and number of parts. */
const profileHeadBytes = 14;
/** Before a box: identifier of the segment, box number and part number. */
const boxAt = 8;
const boxHeadBytes = 8;

export const isJpeg = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xff && bytes[1] === marker.start && bytes[2] === 0xff;

type JpegSegment = { code: number; start: number; data: Uint8Array; end: number };

export const readJpegStructure = (bytes: Uint8Array): ImageStructure => {
  const segments = [...limitSegments(segmentsOf(bytes))];
  const exif = segments.find(({ code, data }) => code === marker.exif && beginsWith(data, "Exif\0\0"));
  const { width, height, components } = frameOf(segments);
  const hasProfile = isIccProfile(joined(segments.filter(isOfProfile), profileHeadBytes));
  const kept = createRangeCollector(bytes);
  kept.keep(0, 2);
  for (const segment of segments) {
    const isWanted = isOfProfile(segment) ? hasProfile : isWorthKeeping(segment);
    if (isWanted) kept.keep(segment.start, segment.end);
  }
  return {
    ...{ media_type: "image/jpeg", width, height, isAnimated: false, isLossless: false },
    isCmyk: components === 4,
    orientation: exif ? exifOrientation(exif.data) : 1,
    c2paManifest: manifestIn(segments),
    keptRanges: kept.parts(),
  };
};

const frameOf = (segments: JpegSegment[]) => {
  const found = segments.filter(({ code }) => frames.has(code));
  const [frame] = found;
  if (found.length > 1 || segments.some(({ code }) => otherFrames.has(code))) throw undecodableImage("unknown frame");
  if (!frame || !segments.some(({ code }) => code === marker.scan)) throw undecodableImage("no pixels");
  const read = createBoundedReader(frame.data);
  return { width: read.u16(3), height: read.u16(1), components: read.u8(5) };
};

/** The content of several segments, joined without their prefixes. */
const joined = (segments: JpegSegment[], headBytes: number): Uint8Array =>
  Buffer.concat(segments.map(({ data }) => data.subarray(headBytes)));

/** A box that is larger than a segment continues in the next segment of the same number, with its header repeated. */
const manifestIn = (segments: JpegSegment[]): Uint8Array | undefined => {
  const boxes = segments.filter(
    ({ code, data }) => code === marker.box && data.length > boxAt && beginsWith(data, "JP"),
  );
  const byNumber = Object.values(
    Object.groupBy(boxes, ({ data }) => createBoundedReader(data).u16(2)),
  ) as JpegSegment[][];
  return byNumber
    .map(([first, ...more]) =>
      parseC2paManifest(Buffer.concat([joined([first!], boxAt), joined(more, boxAt + boxHeadBytes)])),
    )
    .find((manifest) => manifest !== undefined);
};

function* segmentsOf(bytes: Uint8Array): Generator<JpegSegment> {
  const read = createBoundedReader(bytes);
  for (let start = 2, code = 0; code !== marker.end; ) {
    if (read.u8(start) !== 0xff) throw undecodableImage("no marker");
    let at = start + 1;
    while (bytes[at] === 0xff) at++;
    code = read.u8(at);
    if (code === marker.start || code === 0x00) throw undecodableImage("misplaced marker");
    const length = code === marker.end ? 0 : read.u16(at + 1);
    const dataEnd = at + 1 + length;
    if (dataEnd > bytes.byteLength) throw undecodableImage("truncated");
    const end = code === marker.scan ? scanEnd(bytes, dataEnd) : dataEnd;
    yield { code, start, data: bytes.subarray(at + 3, dataEnd), end };
    start = end;
  }
}

/** Inside a scan 0xff is followed by 0x00 or a restart; anything else is the next marker. */
const scanEnd = (bytes: Uint8Array, from: number): number => {
  // Byte by byte: searching for the next 0xff is slower for a crafted file that is full of them.
  for (let at = from; at < bytes.byteLength - 1; at++) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1]!;
    if (next !== 0x00 && (next < 0xd0 || next > 0xd7)) return at;
  }
  throw undecodableImage("truncated");
};

const isOfProfile = ({ code, data }: JpegSegment): boolean =>
  code === marker.profile && beginsWith(data, "ICC_PROFILE\0");

const isWorthKeeping = ({ code, data }: JpegSegment): boolean => {
  const look = APPEARANCE_SEGMENTS.get(code);
  if (look) return data.byteLength === look.length && beginsWith(data, look.beginning);
  return tables.has(code) || frames.has(code) || code === marker.scan || code === marker.end;
};

const beginsWith = (data: Uint8Array, text: string): boolean =>
  Buffer.from(data.subarray(0, text.length)).toString("latin1") === text;
