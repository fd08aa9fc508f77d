// Normalizes masks to 8-bit grayscale PNG in the size of their image: white changes, black stays, grey is in between.
// Callers may send any common kind of mask.
import sharp, { type Metadata, type SharpOptions } from "sharp";
import { type ImageSize, MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";
import { undecodableImage } from "../../formats/image-structure.ts";
import { turnUpright } from "./decode.ts";

/** Tolerance for black and white: lossy formats and soft edges change both slightly. */
const BLACK_WHITE_TOLERANCE = 32;
/** Maximum share of visible pixels that are neither black nor white, for an image to count as black and white. */
const MAX_GREY_SHARE = 0.1;

const reading: SharpOptions = { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true };

/** Returns the same bytes if they already are a normalized mask of this size. Default: the size of the mask. */
export async function normalizeMask(bytes: Uint8Array, size?: ImageSize): Promise<Uint8Array> {
  try {
    const about = await sharp(bytes, reading).metadata();
    const wanted = size ?? about;
    if (isMask(about) && isSameSize(about, wanted)) return bytes;
    return await writeGrey(about.hasAlpha ? await maskFromAlpha(bytes) : await readGrey(bytes), about, wanted);
  } catch (cause) {
    throw undecodableImage("pixels", cause);
  }
}

/**
 * For masks whose transparent pixels mark the area that changes, whatever their colors: alpha decides alone. Undefined
 * if no pixel is transparent.
 */
export async function maskFromTransparency(bytes: Uint8Array, orientation: number): Promise<Uint8Array | undefined> {
  try {
    const upright = turnUpright(sharp(bytes, reading), orientation).toColourspace("srgb").ensureAlpha();
    const { data, info } = await upright.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
    const mask = Uint8Array.from({ length: data.length / 4 }, (_, pixel) => 255 - data[pixel * 4 + 3]!);
    return mask.every((grey) => grey === 0) ? undefined : await writeGrey(mask, info, info);
  } catch (cause) {
    throw undecodableImage("pixels", cause);
  }
}

const isMask = ({ format, space, depth, hasAlpha, isPalette }: Metadata) =>
  format === "png" && space === "b-w" && depth === "uchar" && !hasAlpha && !isPalette;

const readGrey = (bytes: Uint8Array): Promise<Uint8Array> =>
  sharp(bytes, reading).toColourspace("b-w").raw({ depth: "uchar" }).toBuffer();

function writeGrey(data: Uint8Array, { width, height }: ImageSize, wanted: ImageSize): Promise<Uint8Array> {
  const mask = sharp(data, { raw: { width, height, channels: 1 } });
  // Nearest neighbour keeps hard edges hard. A soft mask would get visible steps from it.
  const kernel = data.every(isBlackOrWhite) ? "nearest" : "linear";
  if (!isSameSize({ width, height }, wanted))
    mask.resize({ width: wanted.width, height: wanted.height, fit: "fill", kernel });
  return mask.toColourspace("b-w").png().toBuffer();
}

const isSameSize = (one: ImageSize, other: ImageSize) => one.width === other.width && one.height === other.height;
const isBlackOrWhite = (grey: number) => grey <= BLACK_WHITE_TOLERANCE || grey >= 255 - BLACK_WHITE_TOLERANCE;

/**
 * White marks on a transparent background are the marks. In any other image with transparency, the holes are the
 * marks.
 */
async function maskFromAlpha(bytes: Uint8Array): Promise<Uint8Array> {
  const image = sharp(bytes, reading);
  const data = await image.toColourspace("srgb").ensureAlpha().raw({ depth: "uchar" }).toBuffer();
  const isByAlpha = isMarkedByAlpha(data);
  const mask = new Uint8Array(data.length / 4);
  for (let pixel = 0; pixel < mask.length; pixel++) {
    const alpha = data[pixel * 4 + 3]!;
    mask[pixel] = isByAlpha ? 255 - alpha : Math.round((greyAt(data, pixel * 4) * alpha) / 255);
  }
  return mask;
}

/** Luma by Rec. 709. Grey values stay unchanged. */
const greyAt = (data: Uint8Array, at: number): number =>
  Math.round((2126 * data[at]! + 7152 * data[at + 1]! + 722 * data[at + 2]!) / 10_000);

/**
 * Many tools mark the area with transparency. Transparency is the mark if the colors cannot be: all pixels have the
 * same color, including the hidden ones, or the visible pixels are not white.
 */
function isMarkedByAlpha(data: Uint8Array): boolean {
  const first = greyAt(data, 0);
  let [visible, white, black, hasHole, isEven] = [0, 0, 0, false, true];
  for (let at = 0; at < data.length; at += 4) {
    const [grey, alpha] = [greyAt(data, at), data[at + 3]!];
    if (alpha < 255) hasHole = true;
    if (grey !== first) isEven = false;
    if (alpha < 128) continue;
    visible++;
    if (grey >= 255 - BLACK_WHITE_TOLERANCE) white++;
    else if (grey <= BLACK_WHITE_TOLERANCE) black++;
  }
  const isDrawnInWhite = white > 0 && visible - white - black <= visible * MAX_GREY_SHARE;
  return hasHole && (isEven || !isDrawnInWhite);
}
