// Resizes an image so that it covers a requested size; what is outside is cut off. The result is a PNG.
import "./allowed-formats.ts";
import sharp from "sharp";
import { type ImageSize, MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";

export const resizeToCover = (image: Uint8Array, { width, height }: ImageSize): Promise<Uint8Array> =>
  sharp(image, { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS })
    .resize({ width, height, fit: "cover" })
    .png()
    .toBuffer();
