// Inspects and normalizes untrusted images. The size is checked before anything is decoded, and a normalized image has
// no metadata.
import { Fault } from "../faults.ts";
import type { DecoderPool } from "./decoder-pool.ts";
import { type ImageStructure, type ImageType, stripMetadata, undecodableImage } from "./image-structure.ts";
import { isJpeg, readJpegStructure } from "./jpeg-structure.ts";
import { isPng, readPngStructure } from "./png-structure.ts";
import { isWebp, readWebpStructure } from "./webp-structure.ts";

export type InspectedImage = { media_type: ImageType; width: number; height: number };

const MIN_SIDE = 16;
const MAX_SIDE = 16_384;
const MAX_IMAGE_PIXELS = 50_000_000;
/** Minimum number of bytes to identify a format. */
const MIN_FORMAT_BYTES = 12;
const FILE_SIGNATURES = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF"];

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
  /** Returns the image as a normalized mask; the same bytes if it already is one. */
  toMask(bytes: Uint8Array): Promise<Uint8Array>;
};

export const createImageDecoder = ({ perform }: Pick<DecoderPool, "perform">): ImageDecoder => {
  const request = async (header: object, bytes: Uint8Array) => {
    const reply = await perform({ header: { ...header }, bytes });
    if (reply.header.error !== undefined) throw undecodableImage("pixels", reply.header.error);
    return reply;
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
    toMask: async (bytes) => {
      const reply = await request({ work: "mask" }, bytes);
      if (reply.header.isUnchanged === true) return bytes;
      readStructure(reply.bytes);
      return reply.bytes;
    },
  };
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

const readStructure = (bytes: Uint8Array): ImageStructure => {
  const layout = detectFormat(bytes);
  const { width, height } = layout;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_IMAGE_PIXELS) {
    throw new Fault("image_too_many_pixels", { width, height });
  }
  if (width < MIN_SIDE || height < MIN_SIDE) throw new Fault("image_too_small", { width, height });
  if (layout.isAnimated) throw new Fault("image_animated_not_supported");
  return layout;
};

/** Whether these few bytes can be the start of an image file. */
const canBeImageStart = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString("latin1");
  return FILE_SIGNATURES.some((signature) => text.startsWith(signature) || signature.startsWith(text));
};

const detectFormat = (bytes: Uint8Array): ImageStructure => {
  if (bytes.byteLength < MIN_FORMAT_BYTES && canBeImageStart(bytes)) throw undecodableImage("truncated");
  if (isPng(bytes)) return readPngStructure(bytes);
  if (isJpeg(bytes)) return readJpegStructure(bytes);
  if (isWebp(bytes)) return readWebpStructure(bytes);
  throw new Fault("unsupported_image_format");
};
