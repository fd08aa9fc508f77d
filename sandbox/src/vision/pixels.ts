// Images as plain bytes, for work on single pixels: upright, in sRGB, with the alpha channel kept apart.
import sharp, { type OverlayOptions } from "sharp";
import type { Size } from "../size.ts";

/** Three bytes a pixel. */
export type Pixels = Size & { rgb: Buffer };

export type Source = Pixels & { alpha: Buffer | null };

/** The size of an image as it is looked at, which is not as it is stored when a camera was held sideways. */
export const uprightSize = async (image: Buffer): Promise<Size> => {
  const { autoOrient } = await sharp(image).metadata();
  return { width: autoOrient.width, height: autoOrient.height };
};

/** The size of an image after it was made to fit `longest`; small ones stay as they are. */
export const fitWithin = ({ width, height }: Size, longest: number): Size => {
  const share = Math.min(1, longest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
};

export const readSource = async (image: Buffer, longest = Number.POSITIVE_INFINITY): Promise<Source> => {
  const size = fitWithin(await uprightSize(image), longest);
  const upright = sharp(image)
    .autoOrient()
    .toColourspace("srgb")
    .resize({ ...size, fit: "fill" });
  const { data, info } = await upright.raw().toBuffer({ resolveWithObject: true });
  if (info.channels === 3) return { ...size, rgb: data, alpha: null };
  const count = size.width * size.height;
  const rgb = Buffer.alloc(count * 3);
  const alpha = Buffer.alloc(count);
  for (let pixel = 0; pixel < count; pixel += 1) {
    rgb[pixel * 3] = data[pixel * 4]!;
    rgb[pixel * 3 + 1] = data[pixel * 4 + 1]!;
    rgb[pixel * 3 + 2] = data[pixel * 4 + 2]!;
    alpha[pixel] = data[pixel * 4 + 3]!;
  }
  return { ...size, rgb, alpha };
};

/** What is seen of an image that is partly transparent, on white paper. */
export const flattenOnWhite = ({ width, height, rgb, alpha }: Source): Pixels => {
  if (!alpha) return { width, height, rgb };
  const seen = Buffer.from(rgb);
  for (let at = 0; at < seen.length; at += 1) {
    const share = alpha[Math.floor(at / 3)]! / 255;
    seen[at] = Math.round(rgb[at]! * share + 255 * (1 - share));
  }
  return { width, height, rgb: seen };
};

export const asRaw = ({ width, height }: Size, channels: 1 | 3 | 4 = 3) => ({ raw: { width, height, channels } });

export const openPixels = (pixels: Pixels) => sharp(pixels.rgb, asRaw(pixels));

/** Lays things over an image and gives its pixels again. */
export const overlayImages = async (pixels: Pixels, overlays: OverlayOptions[]): Promise<Pixels> => ({
  width: pixels.width,
  height: pixels.height,
  rgb: await openPixels(pixels).composite(overlays).removeAlpha().raw().toBuffer(),
});

export const pixelsOf = async (sourceImage: Buffer, size: Size): Promise<Pixels> => ({
  width: size.width,
  height: size.height,
  rgb: await sharp(sourceImage)
    .autoOrient()
    .flatten({ background: "#ffffff" })
    .toColourspace("srgb")
    .resize({ width: size.width, height: size.height, fit: "cover" })
    .raw()
    .toBuffer(),
});

/** The mean of all cells, each in its place: what an image looks like from afar. */
export const downscale = async (pixels: Pixels, longest: number): Promise<Pixels> => {
  const size = fitWithin(pixels, longest);
  if (size.width === pixels.width && size.height === pixels.height) return pixels;
  const { data } = await openPixels(pixels)
    .resize({ ...size, fit: "fill", kernel: "linear" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { ...size, rgb: data };
};

const png = { compressionLevel: 6 } as const;

export const toPng = (pixels: Pixels, alpha: Buffer | null = null): Promise<Buffer> => {
  const opened = openPixels(pixels);
  return (alpha ? opened.joinChannel(alpha, asRaw(pixels, 1)) : opened).png(png).toBuffer();
};

export const toGreyPng = (grey: Buffer, size: Size): Promise<Buffer> =>
  sharp(grey, asRaw(size, 1)).toColourspace("b-w").png(png).toBuffer();
