// Images as RGBA pixels in sRGB, four bytes each. All local tasks work on them, so pixels that a task does not change
// keep their exact values.
import "./allowed-formats.ts";
import sharp, { type SharpOptions } from "sharp";
import { type ImageSize, MAX_IMAGE_PIXELS } from "../../formats/image-size.ts";

export type Box = ImageSize & { x: number; y: number };
/** `isOpaque`: the file has no transparency. */
export type Pixels = ImageSize & { data: Uint8Array; isOpaque: boolean };
export type ImageFormat = "png" | "jpeg" | "webp";

const decodeSeconds = 20;

const reading: SharpOptions = { failOn: "truncated", limitInputPixels: MAX_IMAGE_PIXELS, sequentialRead: true };

const open = (bytes: Uint8Array) => sharp(bytes, reading).timeout({ seconds: decodeSeconds });

/** Decodes an image in its own size, or stretched to the given one. */
export const readPixels = async (bytes: Uint8Array, size?: ImageSize): Promise<Pixels> => {
  const own = await sharp(bytes, reading).metadata();
  const image = open(bytes).toColourspace("srgb");
  if (size && isOther(own, size)) image.resize({ ...size, fit: "fill" });
  const { data, info } = await image.ensureAlpha().raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, isOpaque: !own.hasAlpha };
};

/** Decodes a mask to one byte per pixel. Transparent pixels count as black. */
export const readGrey = async (bytes: Uint8Array, size: ImageSize): Promise<Uint8Array> => {
  const own = await sharp(bytes, reading).metadata();
  const image = open(bytes).flatten({ background: "#000000" }).greyscale().toColourspace("b-w");
  // Nearest neighbour keeps hard edges hard and black fully black.
  if (isOther(own, size)) image.resize({ ...size, fit: "fill", kernel: "nearest" });
  return image.raw({ depth: "uchar" }).toBuffer();
};

export const writePixels = ({ data, width, height, isOpaque }: Pixels, format: ImageFormat): Promise<Uint8Array> => {
  const image = sharp(data, { raw: { width, height, channels: 4 } });
  if (isOpaque) image.removeAlpha();
  if (format === "jpeg") return image.jpeg({ quality: 95, chromaSubsampling: "4:4:4" }).toBuffer();
  if (format === "webp") return image.webp({ quality: 95 }).toBuffer();
  return image.png().toBuffer();
};

export const writeGrey = (data: Uint8Array, { width, height }: ImageSize): Promise<Uint8Array> =>
  sharp(data, { raw: { width, height, channels: 1 } })
    .toColourspace("b-w")
    .png()
    .toBuffer();

const isOther = (own: ImageSize, size: ImageSize) => own.width !== size.width || own.height !== size.height;
