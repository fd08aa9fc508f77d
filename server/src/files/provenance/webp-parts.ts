// Reads the chunks of a WebP and appends the mark. A file in the simple format becomes one in the extended format,
// which alone can have metadata; its pixels stay as they are.
import { ascii, type FileParts, type FileSection, rebuildFile, UnreadableFile, utf8, viewOf } from "./file-parts.ts";

const RIFF_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FLAG = { xmp: 0x04, alpha: 0x10 };

type WebpChunk = FileSection & { type: string; data: Uint8Array };

export function readWebpParts(bytes: Uint8Array): FileParts {
  const chunks = [...chunksOf(bytes)];
  const isCut = bytes.byteLength < RIFF_BYTES || viewOf(bytes).getUint32(4, true) + 8 > bytes.byteLength;
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
      const file = rebuildFile(body, replaced, { position: RIFF_BYTES, inserted: [chunkOf("VP8X", extended)] });
      file.writeUInt32LE(file.byteLength - 8, 4);
      return file;
    },
  };
}

function* chunksOf(bytes: Uint8Array): Generator<WebpChunk> {
  const view = viewOf(bytes);
  const boxEnd = bytes.byteLength < RIFF_BYTES ? 0 : view.getUint32(4, true) + 8;
  for (let start = RIFF_BYTES; start < boxEnd; ) {
    // Of a file that was cut, the chunks before the cut are read.
    if (boxEnd > bytes.byteLength && start + CHUNK_HEADER_BYTES > bytes.byteLength) return;
    if (start + CHUNK_HEADER_BYTES > boxEnd) throw new UnreadableFile("chunk too small");
    const length = view.getUint32(start + 4, true);
    const dataEnd = start + CHUNK_HEADER_BYTES + length;
    if (boxEnd > bytes.byteLength && dataEnd > bytes.byteLength) return;
    if (dataEnd > boxEnd) throw new UnreadableFile("chunk too large");
    const end = Math.min(dataEnd + (length % 2), boxEnd);
    yield {
      type: ascii(bytes, start, start + 4),
      data: bytes.subarray(start + CHUNK_HEADER_BYTES, dataEnd),
      start,
      end,
    };
    start = end;
  }
}

function setXmpFlag(header: Uint8Array): Buffer {
  const copy = Buffer.from(header);
  copy[0] = (copy[0] ?? 0) | FLAG.xmp;
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
    header[0] = FLAG.xmp | ((bits >>> 28) & 1 ? FLAG.alpha : 0);
    header.writeUIntLE(bits & 0x3fff, 4, 3);
    header.writeUIntLE((bits >>> 14) & 0x3fff, 7, 3);
    return header;
  }
  header[0] = FLAG.xmp;
  header.writeUIntLE((view.getUint16(6, true) & 0x3fff) - 1, 4, 3);
  header.writeUIntLE((view.getUint16(8, true) & 0x3fff) - 1, 7, 3);
  return header;
}

function chunkOf(type: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(CHUNK_HEADER_BYTES);
  head.write(type, 0, "latin1");
  head.writeUInt32LE(data.byteLength, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.byteLength % 2)]);
}
