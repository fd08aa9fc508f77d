// Makes small WebP copies of an image, and its thumbhash, from one decoding.
import "./allowed-formats.ts";
import sharp, { type OutputInfo } from "sharp";
import { rgbaToThumbHash } from "thumbhash";
import { MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";
import { fingerprintsOf } from "../fingerprint.ts";
import { turnUpright } from "./decode.ts";

/** Tried in order until the file is small enough. */
const QUALITIES = [75, 50, 25, 5];
const MAX_BYTES = 40_000;
/** Files of a higher effort are 5 % smaller and take twice as long, and the run waits for them. */
const ENCODING_EFFORT = 1;
/** A thumbhash has 7 × 7 coefficients at most, so more pixels than this do not change it visibly. */
const THUMBHASH_SIDE = 32;

/** `fingerprint`: if it was asked for, and the image has one. */
type MadeThumbnails = { files: Uint8Array[]; thumbhash: string; fingerprint: string | undefined };
/** One, two, three or four channels; the second or the fourth is alpha. An opaque image has none. */
type RawImage = { data: Uint8Array; width: number; height: number; channels: 1 | 2 | 3 | 4 };

/** One file for each side, smallest first, which is the longer one of the file. An image is never enlarged. */
export async function makeThumbnails(
  bytes: Uint8Array,
  { sides, orientation, hasFingerprint }: { sides: number[]; orientation: number; hasFingerprint: boolean },
): Promise<MadeThumbnails> {
  const largest = await readUpright(bytes, Math.max(...sides), orientation);
  const files: Uint8Array[] = [];
  let fingerprint: string | undefined;
  let previous: { file: Uint8Array; pixels: RawImage } | undefined;
  for (const side of sides) {
    const pixels = await shrink(largest, side);
    if (hasFingerprint && !previous) [fingerprint] = fingerprintsOf(pixels);
    const scale = previous ? (pixels.width * pixels.height) / (previous.pixels.width * previous.pixels.height) : 0;
    const file: Uint8Array =
      previous && scale === 1 ? previous.file : await encodeSmall(pixels, (previous?.file.byteLength ?? 0) * scale);
    files.push(file);
    previous = { file, pixels };
  }
  const { width, height, data } = averageToRgba(largest, THUMBHASH_SIDE);
  const thumbhash = Buffer.from(rgbaToThumbHash(width, height, data)).toString("base64");
  return { files, thumbhash, fingerprint };
}

const within = (side: number) => ({ width: side, height: side, fit: "inside", withoutEnlargement: true }) as const;

/** The box is a square, so it does not matter whether the library turns or scales first. */
async function readUpright(bytes: Uint8Array, side: number, orientation: number): Promise<RawImage> {
  const image = sharp(bytes, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true });
  const scaled = turnUpright(image, orientation).resize(within(side)).toColourspace("srgb");
  return toRawImage(await scaled.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true }));
}

async function shrink(pixels: RawImage, side: number): Promise<RawImage> {
  if (Math.max(pixels.width, pixels.height) <= side) return pixels;
  return toRawImage(await openPixels(pixels).resize(within(side)).raw().toBuffer({ resolveWithObject: true }));
}

const toRawImage = ({ data, info }: { data: Uint8Array; info: OutputInfo }): RawImage => ({
  data,
  width: info.width,
  height: info.height,
  channels: info.channels as RawImage["channels"],
});

/** Averages blocks of whole pixels. A block for a hash is not worth a call of the library. */
function averageToRgba({ data, width, height, channels }: RawImage, side: number) {
  const block = Math.ceil(Math.max(width, height) / side);
  const [columns, rows] = [Math.ceil(width / block), Math.ceil(height / block)];
  const hasAlpha = channels === 2 || channels === 4;
  const colours = hasAlpha ? channels - 1 : channels;
  // Colours are weighted by their alpha: a transparent pixel has none.
  const sums = new Float64Array(columns * rows * 5);
  for (let y = 0, at = 0; y < height; y++) {
    const row = Math.floor(y / block) * columns;
    for (let x = 0; x < width; x++, at += channels) {
      const sum = (row + Math.floor(x / block)) * 5;
      const alpha = hasAlpha ? data[at + colours]! : 255;
      for (let channel = 0; channel < 3; channel++)
        sums[sum + channel]! += data[at + (colours === 1 ? 0 : channel)]! * alpha;
      sums[sum + 3]! += alpha;
      sums[sum + 4]!++;
    }
  }
  const rgba = new Uint8Array(columns * rows * 4);
  for (let pixel = 0; pixel < columns * rows; pixel++) {
    const [red, green, blue, alpha, count] = sums.subarray(pixel * 5, pixel * 5 + 5);
    if (alpha! > 0) rgba.set([red! / alpha!, green! / alpha!, blue! / alpha!].map(Math.round), pixel * 4);
    rgba[pixel * 4 + 3] = Math.round(alpha! / count!);
  }
  return { width: columns, height: rows, data: rgba };
}

/** Noise is far too large at every quality but the lowest: the others are not worth their time. */
async function encodeSmall(pixels: RawImage, expectedBytes: number): Promise<Uint8Array> {
  const qualities = expectedBytes > 2 * MAX_BYTES ? QUALITIES.slice(-2) : QUALITIES;
  let file: Uint8Array = new Uint8Array();
  for (const quality of qualities) {
    file = await openPixels(pixels).webp({ quality, effort: ENCODING_EFFORT }).toBuffer();
    if (file.byteLength <= MAX_BYTES) break;
  }
  return file;
}

const openPixels = ({ data, width, height, channels }: RawImage) => sharp(data, { raw: { width, height, channels } });
