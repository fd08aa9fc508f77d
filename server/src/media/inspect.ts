// What the bytes really are, whatever their sender says. Sizes are read and judged before anything is decoded.
import { Fault } from "../faults.ts";
import { mostPixels, proveDecodable, turnUpright } from "./decode.ts";
import { cleanBytes, damaged, type ImageLayout, type ImageType } from "./image-layout.ts";
import { isJpeg, readJpeg } from "./layout-jpeg.ts";
import { isPng, readPng } from "./layout-png.ts";
import { isWebp, readWebp } from "./layout-webp.ts";

export type InspectedImage = { media_type: ImageType; width: number; height: number };

const leastSide = 16;
const mostSide = 16_384;
/** Fewer bytes than any of our formats needs to be told from the others. */
const leastBytes = 12;
const beginnings = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF"];

/** `decode` proves that every pixel is there; without it only the structure is read, which costs next to nothing. */
export const inspectImage = async (bytes: Uint8Array, options: { decode?: boolean } = {}): Promise<InspectedImage> => {
  const layout = readLayout(bytes);
  if (options.decode ?? true) await proveDecodable(bytes, layout);
  return { media_type: layout.media_type, width: layout.width, height: layout.height };
};

/** A customer's picture as we keep it: proven whole, upright, without metadata. Where nothing is to be done, the same bytes. */
export const normalizeUpload = async (bytes: Uint8Array): Promise<InspectedImage & { bytes: Uint8Array }> => {
  const layout = readLayout(bytes);
  const { media_type, width, height, orientation } = layout;
  if (orientation === 1) {
    await proveDecodable(bytes, layout);
    return { media_type, width, height, bytes: cleanBytes(bytes, layout) };
  }
  const upright = await turnUpright(bytes, layout);
  const isOnItsSide = orientation >= 5;
  return { media_type, width: isOnItsSide ? height : width, height: isOnItsSide ? width : height, bytes: upright };
};

const readLayout = (bytes: Uint8Array): ImageLayout => {
  const layout = sniff(bytes);
  const { width, height } = layout;
  if (width > mostSide || height > mostSide || width * height > mostPixels) {
    throw new Fault("image_too_many_pixels", { width, height });
  }
  if (width < leastSide || height < leastSide) throw new Fault("image_too_small", { width, height });
  if (layout.isAnimated) throw new Fault("image_animated_not_supported");
  return layout;
};

/** Whether something this short could be the beginning of a picture: a few words of text could not. */
const mayBegin = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString("latin1");
  return beginnings.some((beginning) => text.startsWith(beginning) || beginning.startsWith(text));
};

const sniff = (bytes: Uint8Array): ImageLayout => {
  if (bytes.byteLength < leastBytes && mayBegin(bytes)) throw damaged("truncated");
  if (isPng(bytes)) return readPng(bytes);
  if (isJpeg(bytes)) return readJpeg(bytes);
  if (isWebp(bytes)) return readWebp(bytes);
  throw new Fault("unsupported_image_format");
};
