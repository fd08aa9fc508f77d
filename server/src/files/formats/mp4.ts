// Finds the metadata of an MP4 while its bytes pass by: only the headers of its boxes and the few boxes that hold
// metadata are kept, whatever the size of the file. A mark is appended as a box, so the offsets of the media data stay
// right.
import { ascii, type FileParts, UnreadableFile, utf8, viewOf } from "./file-parts.ts";

const BOX_HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
const UUID_BYTES = 16;
const XMP_UUID = "be7acfcb97a942e89c71999491e3afac";
const C2PA_UUID = "d8fec3d61b0e483c92975828877ec481";
/** Far more than a manifest with its ingredients has. A file with more is left as it is. */
const MAX_METADATA_BYTES = 16 * 1024 * 1024;

/** `cut` and `openEnded`: see `FileParts` and `insert` of readMp4Parts. */
export type ScannedMp4 = {
  manifest: Uint8Array | undefined;
  xmp: string | undefined;
  cut: "headers" | "content" | undefined;
  /** Where a box without a size begins. It reaches to the end of the file. */
  openEnded: number | undefined;
};

/** `end`: the byte after the box; undefined for a box that reaches to the end of the file. */
type Box = { type: string; end: number | undefined; uuid?: string; content: Uint8Array[] };

export type Mp4Scanner = {
  /** Keeps views of the chunk where it holds metadata. Throws `UnreadableFile`. */
  push(chunk: Uint8Array): void;
  /** Throws `UnreadableFile`. */
  finish(): ScannedMp4;
};

export function createMp4Scanner(): Mp4Scanner {
  const types = new Set<string>();
  let manifest: Uint8Array | undefined;
  let xmp: string | undefined;
  let openEnded: number | undefined;
  let position = 0;
  let boxStart = 0;
  let header = Buffer.alloc(0);
  let box: Box | undefined;

  const closeBox = ({ type, uuid, content }: Box) => {
    types.add(type);
    const bytes = content.length === 1 ? content[0]! : Buffer.concat(content);
    if (uuid === XMP_UUID) xmp ??= utf8(bytes);
    if (uuid === C2PA_UUID) manifest ??= manifestIn(bytes);
    box = undefined;
    boxStart = position;
    header = Buffer.alloc(0);
  };
  /** Returns the number of bytes taken. */
  const takeHeader = (chunk: Uint8Array): number => {
    const missing = headerBytes(header) - header.byteLength;
    const taken = Math.min(missing, chunk.byteLength);
    header = Buffer.concat([header, chunk.subarray(0, taken)]);
    position += taken;
    if (header.byteLength < headerBytes(header)) return taken;
    const size = boxSize(header);
    const type = ascii(header, 4, 8);
    const uuid = type === "uuid" && header.byteLength > LARGE_HEADER_BYTES ? header.toString("hex", 8, 24) : undefined;
    box = { type, end: size === 0 ? undefined : boxStart + size, content: [], ...(uuid && { uuid }) };
    if (size === 0) openEnded = boxStart;
    if (box.end !== undefined && box.end <= position) closeBox(box);
    return taken;
  };
  const takeContent = (chunk: Uint8Array, open: Box): number => {
    const taken = Math.min(chunk.byteLength, (open.end ?? Number.POSITIVE_INFINITY) - position);
    position += taken;
    if (open.uuid === XMP_UUID || open.uuid === C2PA_UUID) {
      if (position - boxStart > MAX_METADATA_BYTES) throw new UnreadableFile("metadata too large");
      open.content.push(chunk.subarray(0, taken));
    }
    if (position === open.end) closeBox(open);
    return taken;
  };

  return {
    push(chunk) {
      for (let at = 0; at < chunk.byteLength; ) {
        const rest = chunk.subarray(at);
        at += box ? takeContent(rest, box) : takeHeader(rest);
      }
    },
    finish() {
      let cut: ScannedMp4["cut"];
      if (box && box.end === undefined) closeBox(box);
      else if (box || header.byteLength > 0) cut = "headers";
      if (cut && header.byteLength >= BOX_HEADER_BYTES && !box && isLarge(header))
        throw new UnreadableFile("truncated");
      // The index and the media data of a file are in boxes of their own: the file may end between them.
      const isWhole = types.has("moov") && (types.has("mdat") || types.has("moof"));
      return { manifest, xmp, cut: cut ?? (isWhole ? undefined : "content"), openEnded };
    },
  };
}

const isLarge = (header: Uint8Array): boolean => viewOf(header).getUint32(0) === 1;

/** How long the header that begins with these bytes is. */
function headerBytes(header: Uint8Array): number {
  if (header.byteLength < BOX_HEADER_BYTES) return BOX_HEADER_BYTES;
  if (isLarge(header)) return LARGE_HEADER_BYTES;
  const size = viewOf(header).getUint32(0);
  const hasUuid = ascii(header, 4, 8) === "uuid" && (size === 0 || size >= BOX_HEADER_BYTES + UUID_BYTES);
  return hasUuid ? BOX_HEADER_BYTES + UUID_BYTES : BOX_HEADER_BYTES;
}

function boxSize(header: Uint8Array): number {
  const size = viewOf(header).getUint32(0);
  if (size === 0) return 0;
  if (size !== 1) {
    if (size < BOX_HEADER_BYTES) throw new UnreadableFile("box too small");
    return size;
  }
  const large = Number(viewOf(header).getBigUint64(8));
  if (large < LARGE_HEADER_BYTES) throw new UnreadableFile("box too small");
  return large;
}

/** Version and flags, the purpose as text, and the offset of a Merkle box come before the manifest store. */
function manifestIn(content: Uint8Array): Uint8Array | undefined {
  const purposeEnd = content.indexOf(0, 4);
  if (purposeEnd < 0 || ascii(content, 4, purposeEnd) !== "manifest") return undefined;
  return content.subarray(purposeEnd + 1 + 8);
}

export function readMp4Parts(bytes: Uint8Array): FileParts {
  const scanner = createMp4Scanner();
  scanner.push(bytes);
  const { manifest, xmp, cut, openEnded } = scanner.finish();
  return {
    manifest,
    xmp,
    cut,
    insert: (packet) => {
      const file = Buffer.concat([bytes, buildXmpBox(packet)]);
      // The last box reached to the end of the file; now another one follows.
      if (openEnded !== undefined) file.writeUInt32BE(bytes.byteLength - openEnded, openEnded);
      return file;
    },
  };
}

/** The box that holds an XMP packet. */
export function buildXmpBox(packet: string): Buffer {
  const content = Buffer.from(packet, "utf8");
  const head = Buffer.alloc(BOX_HEADER_BYTES);
  head.writeUInt32BE(BOX_HEADER_BYTES + UUID_BYTES + content.byteLength, 0);
  head.write("uuid", 4, "latin1");
  return Buffer.concat([head, Buffer.from(XMP_UUID, "hex"), content]);
}
