// Builds files byte by byte, because no tool would write what attackers do.
import { crc32, deflateSync } from "node:zlib";

const u32 = (value: number, isLittle = false): Buffer => {
  const bytes = Buffer.alloc(4);
  if (isLittle) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  return bytes;
};
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
export const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

/** A chunk of a PNG. */
export const pngChunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([latin1(type), data]);
  return Buffer.concat([u32(data.byteLength), body, u32(crc32(body))]);
};

type Header = { width: number; height: number; depth?: number; colour?: number };
export const PNG_SIGNATURE = latin1("\x89PNG\r\n\x1a\n");

/** A PNG from its header and its packed pixels, with other chunks between them. */
export const buildPng = (
  { width, height, depth = 8, colour = 0 }: Header,
  packed: Uint8Array,
  ...more: Buffer[]
): Buffer => {
  const header = Buffer.concat([u32(width), u32(height), Buffer.from([depth, colour, 0, 0, 0])]);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk("IHDR", header),
    ...more,
    pngChunk("IDAT", packed),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
};

/** Puts chunks right behind the header of a PNG. */
export const pngWith = (image: Buffer, ...chunks: Buffer[]): Buffer =>
  Buffer.concat([image.subarray(0, 33), ...chunks, image.subarray(33)]);

/** A segment of a JPEG. */
export const jpegSegment = (code: number, data: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0xff, code]), u16(data.byteLength + 2), data]);

export const jpegWithSegments = (image: Buffer, ...segments: Buffer[]): Buffer =>
  Buffer.concat([image.subarray(0, 2), ...segments, image.subarray(2)]);

/** A box in as many segments as it needs; the format repeats its header in each of them. */
export const jpegWith = (image: Buffer, box: Buffer, number = 1): Buffer => {
  const space = 60_000;
  const segments: Buffer[] = [];
  for (let from = 0, part = 1; from < Math.max(box.length, 1); from += space, part++) {
    const repeated = from === 0 ? Buffer.alloc(0) : box.subarray(0, 8);
    const head = Buffer.concat([latin1("JP"), u16(number), u32(part)]);
    segments.push(jpegSegment(0xeb, Buffer.concat([head, repeated, box.subarray(from, from + space)])));
  }
  return jpegWithSegments(image, ...segments);
};

const riff = (type: string, data: Uint8Array): Buffer =>
  Buffer.concat([latin1(type), u32(data.byteLength, true), data, Buffer.alloc(data.byteLength % 2)]);

/** Hangs a chunk behind the pixels of a WebP. */
export const webpWith = (image: Buffer, type: string, data: Uint8Array): Buffer => {
  const whole = Buffer.concat([image, riff(type, data)]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
};

/** A box of the type that holds C2PA manifests, of the given size: the structure of one, without a signature. */
export const createC2paManifestStore = (size: number): Buffer => {
  const kind = Buffer.concat([latin1("c2pa"), Buffer.from("00110010800000aa00389b71", "hex")]);
  const description = jumbfBox("jumd", Buffer.concat([kind, Buffer.from([3]), latin1("c2pa\0")]));
  const filling = Buffer.alloc(Math.max(0, size - description.length - 16));
  for (let at = 0; at < filling.length; at++) filling[at] = (at * 31) % 251;
  return jumbfBox("jumb", Buffer.concat([description, jumbfBox("free", filling)]));
};
const jumbfBox = (type: string, data: Uint8Array): Buffer =>
  Buffer.concat([u32(data.byteLength + 8), latin1(type), data]);

/** Zeros without end, packed; they are never held in memory at once. */
export const deflatedZeros = async (size: number): Promise<Buffer> => {
  const { createDeflate } = await import("node:zlib");
  const packer = createDeflate({ level: 9 });
  const parts: Buffer[] = [];
  packer.on("data", (part) => parts.push(part));
  const ended = new Promise((resolve) => packer.once("end", resolve));
  const block = Buffer.alloc(1 << 20);
  for (let left = size; left > 0; left -= block.length) {
    if (!packer.write(block.subarray(0, Math.min(left, block.length)))) {
      await new Promise((resolve) => packer.once("drain", resolve));
    }
  }
  packer.end();
  await ended;
  return Buffer.concat(parts);
};

/** EXIF whose list of entries points back at itself for ever. */
export const selfReferencingExif = (): Buffer =>
  Buffer.concat([latin1("Exif\0\0II*\0"), u32(8, true), Buffer.from([0, 0]), u32(8, true)]);

export const deflate = (bytes: Uint8Array): Buffer => deflateSync(bytes);
