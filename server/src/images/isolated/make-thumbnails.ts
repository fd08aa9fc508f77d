// Makes small WebP copies of an image, and its thumbhash, from one decoding.
import "./allowed-formats.ts";
import sharp from "sharp";
import { rgbaToThumbHash } from "thumbhash";
import { MAX_IMAGE_PIXELS } from "../image-size.ts";
import { turnUpright } from "./decode.ts";
import type { Pixels } from "./pixels.ts";

/** Tried in order until the file is small enough. */
const QUALITIES = [75, 50, 25, 5];
const MAX_BYTES = 40_000;
/** Files of a higher effort are 5 % smaller and take twice as long, and the run waits for them. */
const ENCODING_EFFORT = 1;
/** The library refuses larger images. */
const THUMBHASH_SIDE = 100;

type MadeThumbnails = { files: Uint8Array[]; thumbhash: string };

/** One file for each side, smallest first, which is the longer one of the file. An image is never enlarged. */
export async function makeThumbnails(
  bytes: Uint8Array,
  { sides, orientation }: { sides: number[]; orientation: number },
): Promise<MadeThumbnails> {
  const largest = await readUpright(bytes, Math.max(...sides), orientation);
  const files: Uint8Array[] = [];
  let previous: { file: Uint8Array; pixels: Pixels } | undefined;
  for (const side of sides) {
    const pixels = await shrink(largest, side);
    const scale = previous ? (pixels.width * pixels.height) / (previous.pixels.width * previous.pixels.height) : 0;
    const file: Uint8Array =
      previous && scale === 1 ? previous.file : await encodeSmall(pixels, (previous?.file.byteLength ?? 0) * scale);
    files.push(file);
    previous = { file, pixels };
  }
  const { width, height, data } = await shrink(largest, THUMBHASH_SIDE);
  return { files, thumbhash: Buffer.from(rgbaToThumbHash(width, height, data)).toString("base64") };
}

const within = (side: number) => ({ width: side, height: side, fit: "inside", withoutEnlargement: true }) as const;

/** The box is a square, so it does not matter whether the library turns or scales first. */
async function readUpright(bytes: Uint8Array, side: number, orientation: number): Promise<Pixels> {
  const image = sharp(bytes, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true });
  const { hasAlpha } = await image.metadata();
  const scaled = turnUpright(image, orientation).resize(within(side)).toColourspace("srgb").ensureAlpha();
  const { data, info } = await scaled.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, isOpaque: !hasAlpha };
}

async function shrink(pixels: Pixels, side: number): Promise<Pixels> {
  if (Math.max(pixels.width, pixels.height) <= side) return pixels;
  const scaled = openPixels(pixels).resize(within(side)).raw();
  const { data, info } = await scaled.toBuffer({ resolveWithObject: true });
  return { ...pixels, data, width: info.width, height: info.height };
}

/** Noise is far too large at every quality but the lowest: the others are not worth their time. */
async function encodeSmall(pixels: Pixels, expectedBytes: number): Promise<Uint8Array> {
  const qualities = expectedBytes > 2 * MAX_BYTES ? QUALITIES.slice(-2) : QUALITIES;
  let file: Uint8Array = new Uint8Array();
  for (const quality of qualities) {
    const image = openPixels(pixels);
    if (pixels.isOpaque) image.removeAlpha();
    file = await image.webp({ quality, effort: ENCODING_EFFORT }).toBuffer();
    if (file.byteLength <= MAX_BYTES) break;
  }
  return file;
}

const openPixels = ({ data, width, height }: Pixels) => sharp(data, { raw: { width, height, channels: 4 } });
