// Reads the size of an image from its header, without decoding pixels. The parsers are plain TypeScript with bounds
// checks, so this is safe in a process that holds secrets.
import { Fault } from "../../faults/faults.ts";
import { type ImageStructure, undecodableImage } from "./image-structure.ts";
import { isJpeg, readJpegStructure } from "./jpeg.ts";
import { isPng, readPngStructure } from "./png.ts";
import { isWebp, readWebpStructure } from "./webp.ts";

export type ImageSize = { width: number; height: number };

export const MIN_IMAGE_SIDE = 16;
export const MAX_IMAGE_SIDE = 16_384;
export const MAX_IMAGE_PIXELS = 50_000_000;

export const isStorableSize = ({ width, height }: ImageSize): boolean =>
  Math.max(width, height) <= MAX_IMAGE_SIDE && width * height <= MAX_IMAGE_PIXELS;

/** Minimum number of bytes to identify a format. */
const MIN_FORMAT_BYTES = 12;
const FILE_SIGNATURES = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF"];

/** Whether these few bytes can be the start of an image file. */
export const canBeImageStart = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString("latin1");
  return FILE_SIGNATURES.some((signature) => text.startsWith(signature) || signature.startsWith(text));
};

/** The structure of a JPEG, PNG or WebP file. Does not check the size. */
export const detectFormat = (bytes: Uint8Array): ImageStructure => {
  if (bytes.byteLength < MIN_FORMAT_BYTES && canBeImageStart(bytes)) throw undecodableImage("truncated");
  if (isPng(bytes)) return readPngStructure(bytes);
  if (isJpeg(bytes)) return readJpegStructure(bytes);
  if (isWebp(bytes)) return readWebpStructure(bytes);
  throw new Fault("unsupported_image_format");
};

/** The size of a stored image, which is upright. */
export const readImageSize = (bytes: Uint8Array): ImageSize => {
  const { width, height } = detectFormat(bytes);
  return { width, height };
};

/** Rounding the sides of a scaled image changes its aspect ratio a little. */
const MAX_SKEW_PERCENT = 1;

/** Whether one image can be scaled to the size of the other without a visible distortion. */
export const hasSameShape = (one: ImageSize, other: ImageSize): boolean => {
  const difference = Math.abs(one.width * other.height - one.height * other.width);
  return difference * 100 <= one.height * other.width * MAX_SKEW_PERCENT;
};
