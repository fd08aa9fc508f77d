// What the bytes really are, whatever their sender says. Sizes are read and judged before anything is decoded, and what
// is kept has nothing in it but the picture.
import { Fault } from "../faults.ts";
import type { Decoders } from "./decoders.ts";
import { cleanBytes, damaged, type ImageLayout, type ImageType } from "./image-layout.ts";
import { isJpeg, readJpeg } from "./layout-jpeg.ts";
import { isPng, readPng } from "./layout-png.ts";
import { isWebp, readWebp } from "./layout-webp.ts";

export type InspectedImage = { media_type: ImageType; width: number; height: number };

const leastSide = 16;
const mostSide = 16_384;
const mostPixels = 50_000_000;
/** Fewer bytes than any of our formats needs to be told from the others. */
const leastBytes = 12;
const beginnings = ["\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "RIFF"];

/** `manifest` is what the file said, signed, about where it comes from; it is kept beside the picture. */
export type NormalizedImage = InspectedImage & { bytes: Uint8Array; manifest: Uint8Array | undefined };

/** Nothing is decoded in this process: a picture that breaks its decoder is refused, and nobody else notices. */
export type ImageGate = {
  /** `decode` proves that every pixel is there; without it only the structure is read, which costs next to nothing. */
  inspect(bytes: Uint8Array, options?: { decode?: boolean }): Promise<InspectedImage>;
  /** A customer's picture as we keep it: proven whole, upright, without metadata. Where nothing is to be done, the same bytes. */
  normalize(bytes: Uint8Array): Promise<NormalizedImage>;
  /** A mask of our one kind; the very same bytes where they are such a mask already. */
  toMask(bytes: Uint8Array): Promise<Uint8Array>;
};

export const imageGate = ({ perform }: Pick<Decoders, "perform">): ImageGate => {
  const work = async (says: object, bytes: Uint8Array) => {
    const reply = await perform({ says: { ...says }, bytes });
    if (reply.says.damaged !== undefined) throw damaged("pixels", reply.says.damaged);
    return reply;
  };
  return {
    inspect: async (bytes, { decode = true } = {}) => {
      const layout = readLayout(bytes);
      if (decode) await work({ work: "prove" }, cleanBytes(bytes, layout));
      return sizeOf(layout);
    },
    normalize: async (bytes) => {
      const layout = readLayout(bytes);
      const { media_type, orientation, isLossless, isForPrint, manifest } = layout;
      const clean = cleanBytes(bytes, layout);
      if (orientation === 1 && !isForPrint) {
        await work({ work: "prove" }, clean);
        return { ...sizeOf(layout), bytes: clean, manifest };
      }
      const drawn = await work({ work: "redraw", how: { media_type, orientation, isLossless } }, clean);
      return { ...checkDrawn(drawn.bytes, layout), manifest };
    },
    toMask: async (bytes) => {
      const reply = await work({ work: "mask" }, bytes);
      if (reply.says.isSame === true) return bytes;
      readLayout(reply.bytes);
      return reply.bytes;
    },
  };
};

const sizeOf = ({ media_type, width, height }: ImageLayout): InspectedImage => ({ media_type, width, height });

/** What a decoder hands back is a stranger's too: it must be the picture that was asked for, and nothing besides. */
const checkDrawn = (bytes: Uint8Array, asked: ImageLayout): InspectedImage & { bytes: Uint8Array } => {
  const drawn = readLayout(bytes);
  const [width, height] = asked.orientation >= 5 ? [asked.height, asked.width] : [asked.width, asked.height];
  if (drawn.media_type !== asked.media_type || drawn.width !== width || drawn.height !== height) {
    throw damaged("pixels", "the decoder drew something else");
  }
  return { ...sizeOf(drawn), bytes: cleanBytes(bytes, drawn) };
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
