// Reads the boxes of an MP4 and appends the mark as a box. Nothing before it moves, so the offsets of the media data
// stay right.
import { ascii, type FileParts, UnreadableFile, utf8, viewOf } from "./file-parts.ts";

const BOX_HEADER_BYTES = 8;
const UUID_BYTES = 16;
const XMP_UUID = "be7acfcb97a942e89c71999491e3afac";
const C2PA_UUID = "d8fec3d61b0e483c92975828877ec481";

export function readMp4Parts(bytes: Uint8Array): FileParts {
  const view = viewOf(bytes);
  let manifest: Uint8Array | undefined;
  let xmp: string | undefined;
  let openEnded: number | undefined;
  let cut: FileParts["cut"];
  const types = new Set<string>();
  for (let start = 0; start < bytes.byteLength; ) {
    cut = start + BOX_HEADER_BYTES > bytes.byteLength ? "headers" : undefined;
    if (cut) break;
    const size = boxSize(view, start);
    if (size === 0) openEnded = start;
    const end = size === 0 ? bytes.byteLength : start + size;
    cut = end > bytes.byteLength ? "headers" : undefined;
    if (cut) break;
    const type = ascii(bytes, start + 4, start + 8);
    types.add(type);
    if (type === "uuid") {
      const content = start + BOX_HEADER_BYTES + UUID_BYTES;
      const uuid = Buffer.from(bytes.subarray(start + BOX_HEADER_BYTES, content)).toString("hex");
      if (uuid === XMP_UUID) xmp ??= utf8(bytes.subarray(content, end));
      if (uuid === C2PA_UUID) manifest ??= manifestIn(bytes.subarray(content, end));
    }
    start = end;
  }
  return {
    manifest,
    xmp,
    // The index and the media data of a file are in boxes of their own: the file may end between them.
    cut: cut ?? (types.has("moov") && (types.has("mdat") || types.has("moof")) ? undefined : "content"),
    insert: (packet) => {
      const content = Buffer.from(packet, "utf8");
      const head = Buffer.alloc(BOX_HEADER_BYTES);
      head.writeUInt32BE(BOX_HEADER_BYTES + UUID_BYTES + content.byteLength, 0);
      head.write("uuid", 4, "latin1");
      const file = Buffer.concat([bytes, head, Buffer.from(XMP_UUID, "hex"), content]);
      // The last box reached to the end of the file; now another one follows.
      if (openEnded !== undefined) file.writeUInt32BE(bytes.byteLength - openEnded, openEnded);
      return file;
    },
  };
}

function boxSize(view: DataView, start: number): number {
  const size = view.getUint32(start);
  if (size === 0) return 0;
  if (size !== 1) {
    if (size < BOX_HEADER_BYTES) throw new UnreadableFile("box too small");
    return size;
  }
  if (start + 16 > view.byteLength) throw new UnreadableFile("truncated");
  const large = Number(view.getBigUint64(start + 8));
  if (large < 16) throw new UnreadableFile("box too small");
  return large;
}

/** Version and flags, the purpose as text, and the offset of a Merkle box come before the manifest store. */
function manifestIn(content: Uint8Array): Uint8Array | undefined {
  const purposeEnd = content.indexOf(0, 4);
  if (purposeEnd < 0 || ascii(content, 4, purposeEnd) !== "manifest") return undefined;
  return content.subarray(purposeEnd + 1 + 8);
}
