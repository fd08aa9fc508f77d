// Reads the segments of a JPEG before its pixels, and inserts the mark behind JFIF and EXIF.
import { ascii, type FileParts, type FileSection, rebuildFile, UnreadableFile, utf8, viewOf } from "./file-parts.ts";

const MARKER = {
  app0: 0xe0,
  app1: 0xe1,
  app11: 0xeb,
  comment: 0xfe,
  scan: 0xda,
  end: 0xd9,
  firstRestart: 0xd0,
  lastRestart: 0xd7,
};
const XMP_PREFIX = "http://ns.adobe.com/xap/1.0/\0";
const EXIF_PREFIX = "Exif\0\0";
/** Identifier of the segment, box number and part number, before a JUMBF box. */
const BOX_AT = 8;
const BOX_HEADER_BYTES = 8;

export function readJpegParts(bytes: Uint8Array): FileParts {
  const view = viewOf(bytes);
  const boxes: Uint8Array[] = [];
  const packets: FileSection[] = [];
  let xmp: string | undefined;
  let position = 2;
  let cut: FileParts["cut"];
  for (let start = 2, code = 0; ; ) {
    cut = start + 4 > bytes.byteLength ? "headers" : undefined;
    if (cut) break;
    if (bytes[start] !== 0xff) throw new UnreadableFile("no marker");
    code = bytes[start + 1]!;
    if (code === MARKER.scan) {
      cut = hasEnd(bytes, start) ? undefined : "content";
      break;
    }
    if (code === 0xff) {
      start++;
      continue;
    }
    const end = start + 2 + view.getUint16(start + 2);
    cut = end > bytes.byteLength ? "headers" : undefined;
    if (cut) break;
    const data = bytes.subarray(start + 4, end);
    const beginsWith = (prefix: string) => ascii(data, 0, prefix.length) === prefix;
    if (code === MARKER.app1 && beginsWith(XMP_PREFIX)) {
      packets.push({ start, end });
      xmp ??= utf8(data.subarray(XMP_PREFIX.length));
    }
    const isBox = code === MARKER.app11 && beginsWith("JP") && data.byteLength > BOX_AT;
    if (isBox) boxes.push(data.subarray(boxes.length === 0 ? BOX_AT : BOX_AT + BOX_HEADER_BYTES));
    const isHead = code === MARKER.app0 || (code === MARKER.app1 && beginsWith(EXIF_PREFIX));
    if (isHead && position === start) position = end;
    start = end;
  }
  return {
    manifest: boxes.length > 0 ? Buffer.concat(boxes) : undefined,
    xmp,
    cut,
    insert: (packet, comments) => {
      const text = Object.entries(comments).map(([key, value]) => `${key}: ${value}`);
      const inserted = [
        segment(MARKER.app1, Buffer.from(XMP_PREFIX + packet, "utf8")),
        segment(MARKER.comment, Buffer.from(text.join("\n"), "utf8")),
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
    if (code === MARKER.end) return true;
    const isData = code === 0 || code === 0xff || (code >= MARKER.firstRestart && code <= MARKER.lastRestart);
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
