// Masks: white may change, black stays. They are read from files or created from found objects.
import sharp from "sharp";
import type { Size } from "../size.ts";
import type { Box } from "../tasks/task.ts";
import type { Pixels } from "../vision/pixels.ts";
import { asRaw } from "../vision/pixels.ts";

/** One byte a pixel. */
export type Mask = Buffer;

/** Values below this are artefacts of lossy formats in black areas. */
const speck = 16;

export const readMask = async (image: Buffer, size: Size, fit: "fill" | "cover" = "fill"): Promise<Mask> => {
  const { data, info } = await sharp(image)
    .autoOrient()
    .flatten({ background: "#000000" })
    .resize({ width: size.width, height: size.height, fit, kernel: "linear" })
    .toColourspace("b-w")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const mask = Buffer.alloc(size.width * size.height);
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    const value = data[pixel * info.channels]!;
    mask[pixel] = value < speck ? 0 : value;
  }
  return mask;
};

export const unionMasks = (masks: readonly Mask[], size: Size): Mask => {
  const all = Buffer.alloc(size.width * size.height);
  for (const mask of masks) {
    for (let pixel = 0; pixel < all.length; pixel += 1) all[pixel] = Math.max(all[pixel]!, mask[pixel]!);
  }
  return all;
};

export const boundingBox = (mask: Mask, { width, height }: Size, least = 128): Box | undefined => {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    if (mask[pixel]! < least) continue;
    const x = pixel % width;
    const y = (pixel - x) / width;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return right < 0 ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
};

/** Softens a mask inwards only: black stays black. */
export const featherMask = async (mask: Mask, size: Size): Promise<Mask> => {
  const box = boundingBox(mask, size);
  if (!box) return mask;
  const radius = Math.min(8, Math.min(box.width, box.height) * 0.04);
  if (radius < 0.5) return mask;
  const soft = await sharp(mask, asRaw(size, 1)).blur(radius).toColourspace("b-w").raw().toBuffer();
  return mask.map((value, pixel) => Math.min(value, Math.max(0, soft[pixel]! * 2 - 255))) as Buffer;
};

/** Widens a mask by `around` pixels on every side, and by `below` more downwards. */
export const dilateMask = (mask: Mask, { width, height }: Size, around: number, below = 0): Mask => {
  const sideways = Buffer.alloc(mask.length);
  for (let y = 0; y < height; y += 1) {
    let last = Number.NEGATIVE_INFINITY;
    const row = y * width;
    for (let x = 0; x < width + around; x += 1) {
      if (x < width && mask[row + x]! >= speck) last = x;
      if (x - around >= 0 && last >= x - 2 * around) sideways[row + x - around] = 255;
    }
  }
  const wide = Buffer.alloc(mask.length);
  const up = around;
  const down = around + below;
  for (let x = 0; x < width; x += 1) {
    let last = Number.NEGATIVE_INFINITY;
    for (let y = 0; y < height + up; y += 1) {
      if (y < height && sideways[y * width + x]) last = y;
      if (y - up >= 0 && last >= y - up - down) wide[(y - up) * width + x] = 255;
    }
  }
  return wide;
};

/** `changed` where the mask is white, `source` where it is black, bit for bit. */
export const blendByMask = (source: Pixels, changed: Pixels, mask: Mask): Pixels => {
  const rgb = Buffer.from(source.rgb);
  for (let at = 0; at < rgb.length; at += 1) {
    const share = mask[Math.floor(at / 3)]!;
    if (share) rgb[at] = Math.round((source.rgb[at]! * (255 - share) + changed.rgb[at]! * share) / 255);
  }
  return { width: source.width, height: source.height, rgb };
};
