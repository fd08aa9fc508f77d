// Reads the chunks of a PNG and inserts the mark behind its header: an XMP packet and text chunks.
import { crc32, inflateSync } from "node:zlib";
import { ascii, type FileParts, type FileSection, rebuildFile, utf8, viewOf } from "./file-parts.ts";

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const FRAME_BYTES = 12;
const HEADER_END = 33;
const XMP_KEYWORD = "XML:com.adobe.xmp";
/** The specification of XMP wants iTXt; libvips writes the others. */
const TEXT_CHUNKS = ["iTXt", "zTXt", "tEXt"];
const MAX_PACKET_BYTES = 256 * 1024;

export function readPngParts(bytes: Uint8Array): FileParts {
  const view = viewOf(bytes);
  let manifest: Uint8Array | undefined;
  let xmp: string | undefined;
  const packets: FileSection[] = [];
  let isCut = false;
  for (let start = SIGNATURE_BYTES, type = ""; type !== "IEND"; ) {
    const hasFrame = start + FRAME_BYTES <= bytes.byteLength;
    const end = hasFrame ? start + FRAME_BYTES + view.getUint32(start) : Number.POSITIVE_INFINITY;
    isCut = end > bytes.byteLength;
    if (isCut) break;
    type = ascii(bytes, start + 4, start + 8);
    const data = bytes.subarray(start + 8, end - 4);
    if (type === "caBX") manifest ??= data;
    if (TEXT_CHUNKS.includes(type) && ascii(data, 0, XMP_KEYWORD.length + 1) === `${XMP_KEYWORD}\0`) {
      packets.push({ start, end });
      xmp ??= readText(type, data);
    }
    start = end;
  }
  return {
    manifest,
    xmp,
    cut: isCut ? "headers" : undefined,
    insert: (packet, comments) => {
      // Keyword, no compression, and neither language nor translated keyword.
      const text = Buffer.from(`${XMP_KEYWORD}\0\0\0\0\0${packet}`, "utf8");
      const chunks = Object.entries(comments).map(([key, value]) =>
        chunk("tEXt", Buffer.from(`${key}\0${value}`, "latin1")),
      );
      return rebuildFile(bytes, packets, { position: HEADER_END, inserted: [...chunks, chunk("iTXt", text)] });
    },
  };
}

/** Undefined for a packet that cannot be decompressed, or is too large for one. */
function readText(type: string, data: Uint8Array): string | undefined {
  const start = XMP_KEYWORD.length + 1;
  if (type === "tEXt") return utf8(data.subarray(start));
  if (type === "zTXt") return inflate(data.subarray(start + 1));
  const language = data.indexOf(0, start + 2);
  const content = data.subarray(data.indexOf(0, language + 1) + 1);
  return data[start] === 0 ? utf8(content) : inflate(content);
}

function inflate(data: Uint8Array): string | undefined {
  try {
    return utf8(inflateSync(data, { maxOutputLength: MAX_PACKET_BYTES }));
  } catch {
    return undefined;
  }
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(FRAME_BYTES + data.byteLength);
  bytes.writeUInt32BE(data.byteLength, 0);
  bytes.write(type, 4, "latin1");
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.byteLength - 4);
  return bytes;
}
