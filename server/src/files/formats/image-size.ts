// Reads the size of an image from its header, without decoding pixels. The parsers are plain TypeScript with bounds
// checks, so this is safe in a process that holds secrets.
import { Fault } from "../../faults/faults.ts";
import { canBeImageStart, detectType, TYPE_BYTES } from "./detect-type.ts";
import { type ImageStructure, undecodableImage } from "./image-structure.ts";
import { readJpegStructure } from "./jpeg.ts";
import { readPngStructure } from "./png.ts";
import { readWebpStructure } from "./webp.ts";

export type ImageSize = { width: number; height: number };

/** Undefined for a stored file without pixels, or in a format that Gesso does not read. */
export const knownSize = ({ width, height }: { width: number | null; height: number | null }): ImageSize | undefined =>
  width === null || height === null ? undefined : { width, height };

export const MIN_IMAGE_SIDE = 16;
export const MAX_IMAGE_SIDE = 16_384;
export const MAX_IMAGE_PIXELS = 50_000_000;

export const isStorableSize = ({ width, height }: ImageSize): boolean =>
  Math.max(width, height) <= MAX_IMAGE_SIDE && width * height <= MAX_IMAGE_PIXELS;

/** The structure of a JPEG, PNG or WebP file. Does not check the size. */
export const readImageStructure = (bytes: Uint8Array): ImageStructure => {
  switch (detectType(bytes)) {
    case "image/png":
      return readPngStructure(bytes);
    case "image/jpeg":
      return readJpegStructure(bytes);
    case "image/webp":
      return readWebpStructure(bytes);
    default:
      if (bytes.byteLength < TYPE_BYTES && canBeImageStart(bytes)) throw undecodableImage("truncated");
      throw new Fault("unsupported_image_format");
  }
};

/** The size of a stored image, which is upright. */
export const readImageSize = (bytes: Uint8Array): ImageSize => {
  const { width, height } = readImageStructure(bytes);
  return { width, height };
};

/** Rounding the sides of a scaled image changes its aspect ratio a little. */
const MAX_SKEW_PERCENT = 1;

/** Whether one image can be scaled to the size of the other without a visible distortion. */
export const hasSameShape = (one: ImageSize, other: ImageSize): boolean => {
  const difference = Math.abs(one.width * other.height - one.height * other.width);
  return difference * 100 <= one.height * other.width * MAX_SKEW_PERCENT;
};
