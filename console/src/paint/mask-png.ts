// Writes a mask as a PNG: 8-bit grey without alpha, in the size of the image. White marks the area that changes.
// Browsers would write colours and may add noise against tracking, so the file is written here.
import type { Mask } from "./mask.ts";

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const GREY_8_BIT = [8, 0, 0, 0, 0];
/** Each row is stored as its difference to the row above, which is mostly zero in a mask. */
const FILTER_UP = 2;

export async function encodeMaskPng({ width, height, values }: Mask): Promise<Blob> {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set(GREY_8_BIT, 8);
  const rows = new Uint8Array((width + 1) * height);
  for (let row = 0; row < height; row++) {
    const [target, source] = [row * (width + 1), row * width];
    rows[target] = FILTER_UP;
    for (let column = 0; column < width; column++) {
      const above = row === 0 ? 0 : values[source - width + column]!;
      rows[target + 1 + column] = values[source + column]! - above;
    }
  }
  const parts = [SIGNATURE, chunkOf("IHDR", header), chunkOf("IDAT", await compress(rows)), chunkOf("IEND")];
  return new Blob(parts as BlobPart[], { type: "image/png" });
}

async function compress(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function chunkOf(name: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const chunk = new Uint8Array(data.length + 12);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, data.length);
  for (let letter = 0; letter < 4; letter++) chunk[4 + letter] = name.charCodeAt(letter);
  chunk.set(data, 8);
  view.setUint32(data.length + 8, checksumOf(chunk.subarray(4, data.length + 8)));
  return chunk;
}

const CHECKSUM_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** CRC-32, as PNG defines it. */
function checksumOf(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = CHECKSUM_TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
