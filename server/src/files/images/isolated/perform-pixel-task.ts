// Performs one pixel task inside the isolated process. The small ones are here: resizing, and masks for providers with
// another convention. In Gesso, white marks the area that changes.
import "./allowed-formats.ts";
import sharp from "sharp";
import { type ImageSize, MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";
import type { PixelOutput, PixelTask } from "../pixel-tasks.ts";
import { blendImages } from "./blend.ts";
import { drawCombination } from "./combine.ts";
import { cutImage, readFoundMask } from "./cut.ts";

export async function performPixelTask(
  task: PixelTask,
  images: Uint8Array[],
  masks: Uint8Array[],
): Promise<PixelOutput[]> {
  switch (task.name) {
    case "invert-mask":
      return [{ bytes: await invertMask(images[0]!) }];
    case "alpha-mask":
      return [{ bytes: await alphaMask(images[0]!, task.size) }];
    case "white-transparent-mask":
      return [{ bytes: await whiteTransparentMask(images[0]!) }];
    case "found-mask":
      return [await readFoundMask(images[0]!, task.size)];
    case "resize-to-cover":
      return [{ bytes: await resizeToCover(images[0]!, task.size) }];
    case "combine":
      return drawCombination(images, task);
    case "cut":
      return cutImage(images, masks, task);
    case "blend":
      return blendImages(images, masks, task.size);
  }
}

/** Resizes an image so that it covers a requested size; what is outside is cut off. The result is a PNG. */
const resizeToCover = (image: Uint8Array, { width, height }: ImageSize): Promise<Uint8Array> =>
  sharp(image, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS })
    .resize({ width, height, fit: "cover" })
    .png()
    .toBuffer();

/** Converts masks for providers with another convention. In Gesso, white marks the area that changes. */
export const invertMask = (mask: Uint8Array): Promise<Uint8Array> =>
  sharp(mask).negate().toColourspace("b-w").png().toBuffer();

/** A mask whose marked area is transparent, in the size of the image. */
export async function alphaMask(mask: Uint8Array, size: { width: number; height: number }): Promise<Uint8Array> {
  const { width, height } = size;
  // Nearest neighbour and a threshold, because providers look for fully transparent pixels.
  const opaque = await sharp(mask)
    .resize({ width, height, fit: "fill", kernel: "nearest" })
    .toColourspace("b-w")
    .threshold(128)
    .negate()
    .extractChannel(0)
    .raw()
    .toBuffer();
  return sharp({ create: { width, height, channels: 3, background: "#000000" } })
    .joinChannel(opaque, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

/** A mask whose marked area is both white and transparent, for providers that do not document which one counts. */
async function whiteTransparentMask(mask: Uint8Array): Promise<Uint8Array> {
  const marks = sharp(mask).toColourspace("b-w").threshold(128).extractChannel(0).raw();
  const { data, info } = await marks.toBuffer({ resolveWithObject: true });
  const pixels = Buffer.alloc(data.length * 4);
  for (const [at, mark] of data.entries()) pixels.set([mark, mark, mark, 255 - mark], at * 4);
  const { width, height } = info;
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}
