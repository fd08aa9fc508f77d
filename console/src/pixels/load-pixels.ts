// Reads the pixels of an image file in the browser. Files are served with CORS headers, so their pixels can be read
// although the console may have another host name than PUBLIC_URL.
import type { PixelGrid } from "./changed-pixels.ts";

type Size = { width: number; height: number };

async function loadImage(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.crossOrigin = "anonymous";
  image.src = url;
  await image.decode();
  return image;
}

/** The pixels in the file's own size, or scaled to `size` by the nearest pixel, as the server scales masks. */
export async function loadPixels(url: string, size?: Size): Promise<PixelGrid> {
  const image = await loadImage(url);
  const { width, height } = size ?? { width: image.naturalWidth, height: image.naturalHeight };
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

/** A mask with one byte per pixel. A mask that marks its area with transparency counts as drawn on black. */
export async function loadMaskValues(url: string, size: Size): Promise<Uint8Array> {
  const { data } = await loadPixels(url, size);
  const values = new Uint8Array(size.width * size.height);
  for (let pixel = 0; pixel < values.length; pixel++) {
    const at = pixel * 4;
    values[pixel] = Math.round((Math.max(data[at]!, data[at + 1]!, data[at + 2]!) * data[at + 3]!) / 255);
  }
  return values;
}
