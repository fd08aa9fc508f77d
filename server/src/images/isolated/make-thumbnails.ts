// Makes small WebP copies of an image, and its thumbhash, from one decoding.
import "./allowed-formats.ts";
import sharp from "sharp";
import { rgbaToThumbHash } from "thumbhash";
import { MAX_IMAGE_PIXELS } from "../image-size.ts";
import { turnUpright } from "./decode.ts";
import type { Pixels } from "./pixels.ts";

/** Tried in order until the file is small enough. Only noise needs the last ones. */
const QUALITIES = [75, 60, 45, 30, 15, 5];
const MAX_BYTES = 40_000;
/** The library refuses larger images. */
const THUMBHASH_SIDE = 100;

type MadeThumbnails = { files: Uint8Array[]; thumbhash: string };

/** One file for each side, which is the longer one of the file. An image is never enlarged. */
export async function makeThumbnails(
  bytes: Uint8Array,
  { sides, orientation }: { sides: number[]; orientation: number },
): Promise<MadeThumbnails> {
  const largest = await readUpright(bytes, Math.max(...sides), orientation);
  const files: Uint8Array[] = [];
  for (const side of sides) files.push(await encodeSmall(await shrink(largest, side)));
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

async function encodeSmall(pixels: Pixels): Promise<Uint8Array> {
  let file: Uint8Array = new Uint8Array();
  for (const quality of QUALITIES) {
    const image = openPixels(pixels);
    if (pixels.isOpaque) image.removeAlpha();
    file = await image.webp({ quality }).toBuffer();
    if (file.byteLength <= MAX_BYTES) break;
  }
  return file;
}

const openPixels = ({ data, width, height }: Pixels) => sharp(data, { raw: { width, height, channels: 4 } });
