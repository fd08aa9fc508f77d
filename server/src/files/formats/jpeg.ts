// Reads a JPEG, marker by marker. Its structure separates pixels from metadata. Its parts are read before the pixels
// only; a mark goes behind JFIF and EXIF.
import { exifOrientation } from "./exif-orientation.ts";
import {
  type FileParts,
  type FileSection,
  type FileWalk,
  rebuildFile,
  UnreadableFile,
  utf8,
  viewOf,
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

const marker = {
  ...{ start: 0xd8, end: 0xd9, scan: 0xda, huffman: 0xc4, firstRestart: 0xd0, lastRestart: 0xd7 },
  ...{ jfif: 0xe0, exif: 0xe1, profile: 0xe2, box: 0xeb, comment: 0xfe },
};
/** The data of a scan, which has no marker of its own. */
const pixels = 0x00;
/** Baseline, extended and progressive. Few decoders support the lossless and arithmetic variants. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
const otherFrames = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
/** Tables and restart intervals, which a decoder needs besides frame and scans. */
const tables = new Set([marker.huffman, 0xdb, 0xdc, 0xdd]);
/** Application segments that affect the pixels: their prefix, and their length without hidden data. */
const APPEARANCE_SEGMENTS = new Map([
  [marker.jfif, { beginning: "JFIF\0", length: 14 }],
  [0xee, { beginning: "Adobe", length: 12 }],
]);
/** Identifier, part number and number of parts. */
const profileHeadBytes = 14;
/** Before a box: identifier of the segment, box number and part number. */
const boxAt = 8;
const boxHeadBytes = 8;

type JpegSegment = { code: number; start: number; data: Uint8Array; end: number };

export const readJpegStructure = (bytes: Uint8Array): ImageStructure => {
  const segments = [...piecesOfWhole(segmentsOf(bytes))];
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
  const boxes = segments.filter(isBox);
  const byNumber = Object.values(
    Object.groupBy(boxes, ({ data }) => createBoundedReader(data).u16(2)),
  ) as JpegSegment[][];
  return byNumber
    .map(([first, ...more]) =>
      parseC2paManifest(Buffer.concat([joined([first!], boxAt), joined(more, boxAt + boxHeadBytes)])),
    )
    .find((manifest) => manifest !== undefined);
};

function* segmentsOf(bytes: Uint8Array): FileWalk<JpegSegment> {
  const view = viewOf(bytes);
  for (let start = 2, code = 0; code !== marker.end; ) {
    let at = start + 1;
    while (bytes[at] === 0xff) at++;
    if (at >= bytes.byteLength) return { isCut: true };
    if (bytes[start] !== 0xff) throw new UnreadableFile("no marker");
    code = bytes[at]!;
    if (code === marker.start || code === 0x00) throw new UnreadableFile("misplaced marker");
    if (code === marker.end) {
      yield { code, start, data: bytes.subarray(0, 0), end: at + 1 };
      break;
    }
    const end = at + 3 > bytes.byteLength ? Number.POSITIVE_INFINITY : at + 1 + view.getUint16(at + 1);
    if (end > bytes.byteLength) return { isCut: true };
    yield { code, start, data: bytes.subarray(at + 3, end), end };
    start = end;
    if (code !== marker.scan) continue;
    start = scanEnd(bytes, end);
    if (start === bytes.byteLength) return { isCut: true };
    yield { code: pixels, start: end, data: bytes.subarray(end, start), end: start };
  }
  return { isCut: false };
}

/** Inside a scan 0xff is followed by 0x00 or a restart; anything else is the next marker. */
const scanEnd = (bytes: Uint8Array, from: number): number => {
  // Byte by byte: searching for the next 0xff is slower for a crafted file that is full of them.
  for (let at = from; at < bytes.byteLength - 1; at++) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1]!;
    if (next !== 0x00 && (next < marker.firstRestart || next > marker.lastRestart)) return at;
  }
  return bytes.byteLength;
};

const isBox = ({ code, data }: Pick<JpegSegment, "code" | "data">): boolean =>
  code === marker.box && data.byteLength > boxAt && beginsWith(data, "JP");

const isOfProfile = ({ code, data }: JpegSegment): boolean =>
  code === marker.profile && beginsWith(data, "ICC_PROFILE\0");

const isWorthKeeping = ({ code, data }: JpegSegment): boolean => {
  const look = APPEARANCE_SEGMENTS.get(code);
  if (look) return data.byteLength === look.length && beginsWith(data, look.beginning);
  return tables.has(code) || frames.has(code) || [marker.scan, pixels, marker.end].includes(code);
};

const beginsWith = (data: Uint8Array, text: string): boolean =>
  Buffer.from(data.subarray(0, text.length)).toString("latin1") === text;

const XMP_PREFIX = "http://ns.adobe.com/xap/1.0/\0";
const EXIF_PREFIX = "Exif\0\0";

export function readJpegParts(bytes: Uint8Array): FileParts {
  const boxes: Uint8Array[] = [];
  const packets: FileSection[] = [];
  let xmp: string | undefined;
  let position = 2;
  let cut: FileParts["cut"] = "headers";
  for (const { code, data, start, end } of segmentsOf(bytes)) {
    if (code === marker.scan) {
      cut = hasEnd(bytes, start) ? undefined : "content";
      break;
    }
    if (code === marker.exif && beginsWith(data, XMP_PREFIX)) {
      packets.push({ start, end });
      xmp ??= utf8(data.subarray(XMP_PREFIX.length));
    }
    if (isBox({ code, data })) boxes.push(data.subarray(boxes.length === 0 ? boxAt : boxAt + boxHeadBytes));
    const isHead = code === marker.jfif || (code === marker.exif && beginsWith(data, EXIF_PREFIX));
    if (isHead && position === start) position = end;
  }
  return {
    manifest: boxes.length > 0 ? Buffer.concat(boxes) : undefined,
    xmp,
    cut,
    insert: (packet, comments) => {
      const text = Object.entries(comments).map(([key, value]) => `${key}: ${value}`);
      const inserted = [
        segment(marker.exif, Buffer.from(XMP_PREFIX + packet, "utf8")),
        segment(marker.comment, Buffer.from(text.join("\n"), "utf8")),
      ];
      return rebuildFile(bytes, packets, { position, inserted });
    },
  };
}

/** Whether the end marker follows the scans. Between them are other segments, whose content may look like a marker. */
function hasEnd(bytes: Uint8Array, scan: number): boolean {
  const view = viewOf(bytes);
  for (let at = scan; at >= 0 && at + 1 < bytes.byteLength; ) {
    const code = bytes[at + 1]!;
    if (code === marker.end) return true;
    const isData = code === 0 || code === 0xff || (code >= marker.firstRestart && code <= marker.lastRestart);
    const hasLength = !isData && at + 4 <= bytes.byteLength;
    const next = at + (hasLength ? 2 + view.getUint16(at + 2) : code === 0xff ? 1 : 2);
    at = bytes.indexOf(0xff, next);
  }
  return false;
}

function segment(code: number, data: Uint8Array): Buffer {
  const head = Buffer.from([0xff, code, 0, 0]);
  head.writeUInt16BE(data.byteLength + 2, 2);
  return Buffer.concat([head, data]);
}
