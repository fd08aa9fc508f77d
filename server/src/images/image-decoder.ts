// What the bytes really are, whatever their sender says. Sizes are read and judged before anything is decoded, and what
// is kept has nothing in it but the picture.
import { Fault } from "../faults.ts";
import type { DecoderPool } from "./decoder-pool.ts";
import { type ImageStructure, type ImageType, stripMetadata, undecodableImage } from "./image-structure.ts";
import { isJpeg, readJpegStructure } from "./jpeg-structure.ts";
import { isPng, readPngStructure } from "./png-structure.ts";
import { isWebp, readWebpStructure } from "./webp-structure.ts";

export type InspectedImage = { media_type: ImageType; width: number; height: number };

const MIN_SIDE = 16;
const MAX_SIDE = 16_384;
const mostPixels = 50_000_000;
/** Fewer bytes than any of our formats needs to be told from the others. */
const leastBytes = 12;
const FILE_SIGNATURES = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF"];

/** `manifest` is what the file said, signed, about where it comes from; it is kept beside the picture. */
export type NormalizedImage = InspectedImage & { bytes: Uint8Array; manifest: Uint8Array | undefined };

/** Nothing is decoded in this process: a picture that breaks its decoder is refused, and nobody else notices. */
export type ImageDecoder = {
  /** `decode` proves that every pixel is there; without it only the structure is read, which costs next to nothing. */
  inspect(bytes: Uint8Array, options?: { decode?: boolean }): Promise<InspectedImage>;
  /** A customer's picture as we keep it: proven whole, upright, without metadata. Where nothing is to be done, the same bytes. */
  normalize(bytes: Uint8Array): Promise<NormalizedImage>;
  /** A mask of our one kind; the very same bytes where they are such a mask already. */
  toMask(bytes: Uint8Array): Promise<Uint8Array>;
};

export const createImageDecoder = ({ perform }: Pick<DecoderPool, "perform">): ImageDecoder => {
  const work = async (says: object, bytes: Uint8Array) => {
    const reply = await perform({ says: { ...says }, bytes });
    if (reply.says.damaged !== undefined) throw undecodableImage("pixels", reply.says.damaged);
    return reply;
  };
  return {
    inspect: async (bytes, { decode = true } = {}) => {
      const layout = readStructure(bytes);
      if (decode) await work({ work: "prove" }, stripMetadata(bytes, layout));
      return sizeOf(layout);
    },
    normalize: async (bytes) => {
      const layout = readStructure(bytes);
      const { media_type, orientation, isLossless, isCmyk: isForPrint, c2paManifest: manifest } = layout;
      const clean = stripMetadata(bytes, layout);
      if (orientation === 1 && !isForPrint) {
        await work({ work: "prove" }, clean);
        return { ...sizeOf(layout), bytes: clean, manifest };
      }
      const drawn = await work({ work: "redraw", how: { media_type, orientation, isLossless } }, clean);
      return { ...verifyReencoded(drawn.bytes, layout), manifest };
    },
    toMask: async (bytes) => {
      const reply = await work({ work: "mask" }, bytes);
      if (reply.says.isSame === true) return bytes;
      readStructure(reply.bytes);
      return reply.bytes;
    },
  };
};

const sizeOf = ({ media_type, width, height }: ImageStructure): InspectedImage => ({ media_type, width, height });

/** What a decoder hands back is a stranger's too: it must be the picture that was asked for, and nothing besides. */
const verifyReencoded = (bytes: Uint8Array, asked: ImageStructure): InspectedImage & { bytes: Uint8Array } => {
  const drawn = readStructure(bytes);
  const [width, height] = asked.orientation >= 5 ? [asked.height, asked.width] : [asked.width, asked.height];
  if (drawn.media_type !== asked.media_type || drawn.width !== width || drawn.height !== height) {
    throw undecodableImage("pixels", "the decoder drew something else");
  }
  return { ...sizeOf(drawn), bytes: stripMetadata(bytes, drawn) };
};

const readStructure = (bytes: Uint8Array): ImageStructure => {
  const layout = detectFormat(bytes);
  const { width, height } = layout;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > mostPixels) {
    throw new Fault("image_too_many_pixels", { width, height });
  }
  if (width < MIN_SIDE || height < MIN_SIDE) throw new Fault("image_too_small", { width, height });
  if (layout.isAnimated) throw new Fault("image_animated_not_supported");
  return layout;
};

/** Whether something this short could be the beginning of a picture: a few words of text could not. */
const mayBegin = (bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString("latin1");
  return FILE_SIGNATURES.some((beginning) => text.startsWith(beginning) || beginning.startsWith(text));
};

const detectFormat = (bytes: Uint8Array): ImageStructure => {
  if (bytes.byteLength < leastBytes && mayBegin(bytes)) throw undecodableImage("truncated");
  if (isPng(bytes)) return readPngStructure(bytes);
  if (isJpeg(bytes)) return readJpegStructure(bytes);
  if (isWebp(bytes)) return readWebpStructure(bytes);
  throw new Fault("unsupported_image_format");
};
