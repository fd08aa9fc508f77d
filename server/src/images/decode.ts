// Decodes pixels, in a process of its own. The decoder sees only the three formats we take, only pictures whose size was
// checked, and never their metadata.
import "./allowed-formats.ts";
import sharp, { type Sharp } from "sharp";
import type { ImageType } from "./image-structure.ts";

export const MAX_IMAGE_PIXELS = 50_000_000;

const open = (bytes: Uint8Array): Sharp =>
  sharp(bytes, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true });

/**
 * Decodes everything and keeps next to nothing. Averaging into a few pixels reads every row, yet lets JPEG and WebP
 * take their shortcuts; the nearest-neighbour kernel would be no faster and overlooks a missing end.
 */
export const assertDecodable = async (bytes: Uint8Array): Promise<void> => {
  await open(bytes).resize(8, 8, { fit: "fill" }).raw().toBuffer();
};

/** What of a picture says how it must be drawn anew. */
export type ReencodeOptions = { media_type: ImageType; orientation: number; isLossless: boolean };

/** Turns the pixels upright and encodes them again, in sRGB, in the format they came in. */
export const reencodeUpright = async (bytes: Uint8Array, how: ReencodeOptions): Promise<Uint8Array> => {
  const [angle, isMirrored] = ORIENTATION_TRANSFORMS[how.orientation] ?? [0, false];
  const { depth } = await open(bytes).metadata();
  const upright = open(bytes).flop(isMirrored).rotate(angle);
  return encode(depth === "ushort" ? upright.toColourspace("rgb16") : upright, how).toBuffer();
};

/** By EXIF's number. The decoder mirrors left to right before it turns clockwise, in whichever order it is asked. */
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
  return image.jpeg({ quality: 95, chromaSubsampling: "4:4:4" });
};
