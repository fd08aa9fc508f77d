// Inspects and normalizes untrusted images. The size is checked before anything is decoded, and a normalized image has
// no metadata.
import { Fault } from "../../faults/faults.ts";
import { type ImageSize, isStorableSize, MIN_IMAGE_SIDE, readImageStructure } from "../formats/image-size.ts";
import { type ImageStructure, type ImageType, stripMetadata, undecodableImage } from "../formats/image-structure.ts";
import type { DecoderPool } from "./decoder-pool.ts";
import { joinParts, type PixelTask, splitParts } from "./pixel-tasks.ts";

export type InspectedImage = { media_type: ImageType; width: number; height: number };

/** `manifest` is the C2PA manifest of the file. It is stored next to the image. */
export type NormalizedImage = InspectedImage & { bytes: Uint8Array; manifest: Uint8Array | undefined };

/**
 * All decoding happens in decoder processes: an image that crashes its decoder is refused, and others are not
 * affected.
 */
export type ImageDecoder = {
  /** With `decode` (default), every pixel is decoded. Without it, only the structure is read, which is cheap. */
  inspect(bytes: Uint8Array, options?: { decode?: boolean }): Promise<InspectedImage>;
  /** Returns the image complete, upright and without metadata; the same bytes if nothing has to change. */
  normalize(bytes: Uint8Array): Promise<NormalizedImage>;
  /** Returns the image as a normalized mask, scaled to `size` if one is given; the same bytes if it already is one. */
  toMask(bytes: Uint8Array, size?: ImageSize): Promise<Uint8Array>;
  /** Returns a mask that marks the transparent pixels of the image. Undefined if it has none. */
  maskFromTransparency(bytes: Uint8Array): Promise<Uint8Array | undefined>;
  /** Returns the image upright as PNG without loss; the same bytes if it already is a PNG. */
  toPng(bytes: Uint8Array): Promise<Uint8Array>;
  /** Returns the image upright in this format; the same bytes if it already has it. */
  toFormat(bytes: Uint8Array, media_type: ImageType): Promise<Uint8Array>;
  /** Returns a mask from a provider as grayscale PNG. `isEmpty`: the mask marks nothing. */
  toFoundMask(bytes: Uint8Array): Promise<FoundMask>;
  /** Returns one mask of the given size that marks what any of the masks marks, extended by `margin` pixels. */
  mergeMasks(masks: Uint8Array[], options: { size: ImageSize; margin: number }): Promise<Uint8Array>;
};

export type FoundMask = { bytes: Uint8Array; isEmpty: boolean };

export const createImageDecoder = ({ perform }: Pick<DecoderPool, "perform">): ImageDecoder => {
  const request = async (header: object, bytes: Uint8Array) => {
    const reply = await perform({ header: { ...header }, bytes });
    if (reply.header.error !== undefined) throw undecodableImage("pixels", reply.header.error);
    return reply;
  };
  const convert = async (bytes: Uint8Array, media_type: ImageType, isLossless: boolean) => {
    const layout = readStructure(bytes);
    if (layout.media_type === media_type) return bytes;
    const options = { media_type, orientation: layout.orientation, isLossless };
    const reencoded = await request({ work: "reencode", options }, stripMetadata(bytes, layout));
    return verifyReencoded(reencoded.bytes, { ...layout, media_type }).bytes;
  };
  return {
    inspect: async (bytes, { decode = true } = {}) => {
      const layout = readStructure(bytes);
      if (decode) await request({ work: "verify" }, stripMetadata(bytes, layout));
      return sizeOf(layout);
    },
    normalize: async (bytes) => {
      const layout = readStructure(bytes);
      const { media_type, orientation, isLossless, isCmyk, c2paManifest: manifest } = layout;
      const clean = stripMetadata(bytes, layout);
      if (orientation === 1 && !isCmyk) {
        await request({ work: "verify" }, clean);
        return { ...sizeOf(layout), bytes: clean, manifest };
      }
      const reencoded = await request({ work: "reencode", options: { media_type, orientation, isLossless } }, clean);
      return { ...verifyReencoded(reencoded.bytes, layout), manifest };
    },
    toMask: async (bytes, size) => {
      const reply = await request({ work: "mask", ...(size && { size }) }, bytes);
      const mask = reply.header.isUnchanged === true ? bytes : reply.bytes;
      return verifyMaskSize(mask, size);
    },
    mergeMasks: async (masks, { size, margin }) => {
      const { header, bytes } = joinParts({ work: "merge-masks", size, margin }, masks);
      return verifyMaskSize((await request(header, bytes)).bytes, size);
    },
    maskFromTransparency: async (bytes) => {
      const layout = readStructure(bytes);
      const task = { work: "transparency-mask", orientation: layout.orientation };
      const reply = await request(task, stripMetadata(bytes, layout));
      if (reply.header.isEmpty === true) return undefined;
      return verifyReencoded(reply.bytes, { ...layout, media_type: "image/png" }).bytes;
    },
    toPng: (bytes) => convert(bytes, "image/png", true),
    toFormat: (bytes, media_type) => convert(bytes, media_type, false),
    toFoundMask: async (bytes) => {
      const layout = readStructure(bytes);
      const task: PixelTask = { name: "found-mask", size: { width: layout.width, height: layout.height } };
      const message = joinParts({ work: "pixels", task, imageCount: 1 }, [stripMetadata(bytes, layout)]);
      const reply = await request(message.header, message.bytes);
      const [mask = new Uint8Array()] = splitParts(reply);
      const upright: ImageStructure = { ...layout, media_type: "image/png", orientation: 1 };
      const [box] = Array.isArray(reply.header.boxes) ? reply.header.boxes : [];
      return { bytes: verifyReencoded(mask, upright).bytes, isEmpty: box === null };
    },
  };
};

/** The reply of a decoder is untrusted. */
const verifyMaskSize = (mask: Uint8Array, size: ImageSize | undefined): Uint8Array => {
  const { width, height } = readStructure(mask);
  if (size && (width !== size.width || height !== size.height))
    throw undecodableImage("pixels", "the decoder returned a mask of another size");
  return mask;
};

const sizeOf = ({ media_type, width, height }: ImageStructure): InspectedImage => ({ media_type, width, height });

/** The reply of a decoder is untrusted: it must have the format and size of the original, and no metadata. */
const verifyReencoded = (bytes: Uint8Array, original: ImageStructure): InspectedImage & { bytes: Uint8Array } => {
  const structure = readStructure(bytes);
  const [width, height] =
    original.orientation >= 5 ? [original.height, original.width] : [original.width, original.height];
  if (structure.media_type !== original.media_type || structure.width !== width || structure.height !== height) {
    throw undecodableImage("pixels", "the decoder returned another image");
  }
  return { ...sizeOf(structure), bytes: stripMetadata(bytes, structure) };
};

/** Throws if the image is too large, too small or animated. */
export const readStructure = (bytes: Uint8Array): ImageStructure => {
  const layout = readImageStructure(bytes);
  const { width, height } = layout;
  if (!isStorableSize(layout)) throw new Fault("image_too_many_pixels", { width, height });
  if (width < MIN_IMAGE_SIDE || height < MIN_IMAGE_SIDE) throw new Fault("image_too_small", { width, height });
  if (layout.isAnimated) throw new Fault("image_animated_not_supported");
  return layout;
};
