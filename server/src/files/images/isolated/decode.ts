// Decodes and encodes pixels inside the sandboxed decoder process. Its input is limited to JPEG, PNG and WebP images
// of a checked size and without metadata.
import "./allowed-formats.ts";
import sharp, { type Sharp } from "sharp";
import { MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";
import type { ImageType } from "../../formats/image-structure.ts";

const open = (bytes: Uint8Array): Sharp =>
  sharp(bytes, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true });

/**
 * Throws if a pixel cannot be decoded. Averaging into 8x8 pixels reads every row and still allows the fast paths of
 * JPEG and WebP. The nearest-neighbour kernel is not faster and does not notice a missing end.
 */
export const assertDecodable = async (bytes: Uint8Array): Promise<void> => {
  await open(bytes).resize(8, 8, { fit: "fill" }).raw().toBuffer();
};

/** How an image is encoded again. `orientation` is that of the original. */
export type ReencodeOptions = { media_type: ImageType; orientation: number; isLossless: boolean };

/** Turns the pixels upright and encodes them again, in sRGB. `media_type` is the format of the result. */
export const reencodeUpright = async (bytes: Uint8Array, options: ReencodeOptions): Promise<Uint8Array> => {
  const { depth } = await open(bytes).metadata();
  const upright = turnUpright(open(bytes), options.orientation);
  const keepsDepth = depth === "ushort" && options.media_type === "image/png";
  return encode(keepsDepth ? upright.toColourspace("rgb16") : upright, options).toBuffer();
};

/** `orientation` is that of EXIF. */
export const turnUpright = (image: Sharp, orientation: number): Sharp => {
  const [angle, isMirrored] = ORIENTATION_TRANSFORMS[orientation] ?? [0, false];
  return image.flop(isMirrored).rotate(angle);
};

/** By EXIF orientation. The library always mirrors before it rotates clockwise. */
const ORIENTATION_TRANSFORMS: Record<number, [angle: number, isMirrored: boolean]> = {
  2: [0, true],
  3: [180, false],
  4: [180, true],
  5: [270, true],
  6: [90, false],
  7: [90, true],
  8: [270, false],
};

const encode = (image: Sharp, { media_type, isLossless }: ReencodeOptions): Sharp => {
  if (media_type === "image/png") return image.png();
  if (media_type === "image/webp") return image.webp(isLossless ? { lossless: true } : { quality: 95 });
  // A JPEG has no transparency. Without a background, transparent pixels would become black.
  return image.flatten({ background: "#ffffff" }).jpeg({ quality: 95, chromaSubsampling: "4:4:4" });
};
