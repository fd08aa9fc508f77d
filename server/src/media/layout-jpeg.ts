// The structure of a JPEG, from its first marker to its last: what cameras and editors write between them is told
// apart from the picture.
import { exifOrientation } from "./exif-orientation.ts";
import { asManifest, bounded, damaged, type ImageLayout, isProfile, pieces, reader } from "./image-layout.ts";

const marker = { start: 0xd8, end: 0xd9, scan: 0xda, huffman: 0xc4, exif: 0xe1, profile: 0xe2, box: 0xeb };
/** Baseline, extended and progressive. The lossless and arithmetic kinds are read by hardly anything. */
const frames = new Set([0xc0, 0xc1, 0xc2]);
const otherFrames = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
/** Tables and restarts: what a decoder needs besides the frame and the scans. */
const tables = new Set([marker.huffman, 0xdb, 0xdc, 0xdd]);
/** Application segments that change how the pixels look: how they begin, and how long they are without anything hidden. */
const looks = new Map([
  [0xe0, { beginning: "JFIF\0", length: 14 }],
  [0xee, { beginning: "Adobe", length: 12 }],
]);
/** The name, and which part of how many it is. */
const profileHeadBytes = 14;
/** Before a box come the name of the segment's kind, the number of the box, and which part of it this is. */
const boxAt = 8;
const boxHeadBytes = 8;

export const isJpeg = (bytes: Uint8Array): boolean =>
  bytes[0] === 0xff && bytes[1] === marker.start && bytes[2] === 0xff;

type Segment = { code: number; start: number; data: Uint8Array; end: number };

export const readJpeg = (bytes: Uint8Array): ImageLayout => {
  const segments = [...bounded(segmentsOf(bytes))];
  const exif = segments.find(({ code, data }) => code === marker.exif && beginsWith(data, "Exif\0\0"));
  const { width, height, components } = frameOf(segments);
  const hasProfile = isProfile(joined(segments.filter(isOfProfile), profileHeadBytes));
  const picture = pieces(bytes);
  picture.keep(0, 2);
  for (const segment of segments) {
    const isWanted = isOfProfile(segment) ? hasProfile : isWorthKeeping(segment);
    if (isWanted) picture.keep(segment.start, segment.end);
  }
  return {
    ...{ media_type: "image/jpeg", width, height, isAnimated: false, isLossless: false },
    isForPrint: components === 4,
    orientation: exif ? exifOrientation(exif.data) : 1,
    manifest: manifestIn(segments),
    parts: picture.parts(),
  };
};

const frameOf = (segments: Segment[]) => {
  const found = segments.filter(({ code }) => frames.has(code));
  const [frame] = found;
  if (found.length > 1 || segments.some(({ code }) => otherFrames.has(code))) throw damaged("unknown frame");
  if (!frame || !segments.some(({ code }) => code === marker.scan)) throw damaged("no pixels");
  const read = reader(frame.data);
  return { width: read.u16(3), height: read.u16(1), components: read.u8(5) };
};

/** What lies in several segments, put together without what each of them begins with. */
const joined = (segments: Segment[], headBytes: number): Uint8Array =>
  Buffer.concat(segments.map(({ data }) => data.subarray(headBytes)));

/** Boxes that are too large for a segment go on in the next one of the same number, their beginning repeated. */
const manifestIn = (segments: Segment[]): Uint8Array | undefined => {
  const boxes = segments.filter(
    ({ code, data }) => code === marker.box && data.length > boxAt && beginsWith(data, "JP"),
  );
  const byNumber = Object.values(Object.groupBy(boxes, ({ data }) => reader(data).u16(2))) as Segment[][];
  return byNumber
    .map(([first, ...more]) => asManifest(Buffer.concat([joined([first!], boxAt), joined(more, boxAt + boxHeadBytes)])))
    .find((manifest) => manifest !== undefined);
};

function* segmentsOf(bytes: Uint8Array): Generator<Segment> {
  const read = reader(bytes);
  for (let start = 2, code = 0; code !== marker.end; ) {
    if (read.u8(start) !== 0xff) throw damaged("no marker");
    let at = start + 1;
    while (bytes[at] === 0xff) at++;
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
  // Byte by byte: looking for the next 0xff is slower where a crafted file is full of them.
  for (let at = from; at < bytes.byteLength - 1; at++) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1]!;
    if (next !== 0x00 && (next < 0xd0 || next > 0xd7)) return at;
  }
  throw damaged("truncated");
};

const isOfProfile = ({ code, data }: Segment): boolean => code === marker.profile && beginsWith(data, "ICC_PROFILE\0");

const isWorthKeeping = ({ code, data }: Segment): boolean => {
  const look = looks.get(code);
  if (look) return data.byteLength === look.length && beginsWith(data, look.beginning);
  return tables.has(code) || frames.has(code) || code === marker.scan || code === marker.end;
};

const beginsWith = (data: Uint8Array, text: string): boolean =>
  Buffer.from(data.subarray(0, text.length)).toString("latin1") === text;
