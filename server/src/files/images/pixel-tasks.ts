// Pixel tasks that isolated processes do for the server: encoded images in, encoded images out. The server itself
// never decodes an image. Replies are untrusted and checked like any other file.

import { type ImageSize, readImageStructure } from "../formats/image-size.ts";
import { undecodableImage } from "../formats/image-structure.ts";
import type { CombineLayout } from "./combine-layout.ts";
import type { DecoderPool } from "./decoder-pool.ts";
import type { DecoderMessage } from "./decoder-protocol.ts";

/**
 * `invert-mask`: black and white change places. `alpha-mask`: the marked area is transparent, in the given size.
 * `white-transparent-mask`: the marked area is white and transparent. `found-mask`: a mask from a provider as gray
 * values, where transparent pixels are black. `resize-to-cover`: the image fills the given size. `combine`, `cut` and
 * `blend` are the tasks of the local provider; `size` is the size of their first image.
 */
export type PixelTask =
  | { name: "invert-mask" }
  | { name: "alpha-mask"; size: ImageSize }
  | { name: "white-transparent-mask" }
  | { name: "found-mask"; size: ImageSize }
  | { name: "resize-to-cover"; size: ImageSize }
  | {
      name: "combine";
      layout: CombineLayout;
      isOverlay: boolean;
      opacity: number;
      background: string | undefined;
      output_format: "png" | "jpeg" | "webp";
    }
  | { name: "cut"; size: ImageSize; isMaskOnly: boolean; isInverted: boolean; isAlphaKept: boolean }
  | { name: "blend"; size: ImageSize };
export type PixelTaskOf<Name extends PixelTask["name"]> = Extract<PixelTask, { name: Name }>;

export type PixelInputs = { images: Uint8Array[]; masks?: Uint8Array[] };
/** `box` is the bounding box of the marked pixels. */
export type PixelOutput = { bytes: Uint8Array; box?: ImageSize & { x: number; y: number } };
/** Waiting and work together take at most `seconds`. */
export type RunPixelTask = (task: PixelTask, inputs: PixelInputs, seconds: number) => Promise<PixelOutput[]>;

/** A task waits at most this share of its time for a free process, so that a started task has time to finish. */
const WAIT_SHARE = 1 / 3;

export const createPixelTasks =
  ({ perform }: Pick<DecoderPool, "perform">): RunPixelTask =>
  async (task, { images, masks = [] }, seconds) => {
    const waitSeconds = seconds * WAIT_SHARE;
    const request = joinParts({ work: "pixels", task, imageCount: images.length }, [...images, ...masks]);
    const reply = await perform(request, { waitSeconds, seconds: seconds - waitSeconds });
    if (reply.header.error !== undefined) throw undecodableImage("pixels", reply.header.error);
    const parts = splitParts(reply);
    const boxes = Array.isArray(reply.header.boxes) ? reply.header.boxes : [];
    const expected = countOutputs(task, images.length, masks.length);
    if (parts.length !== expected)
      throw undecodableImage("pixels", `expected ${expected} results, got ${parts.length}`);
    return parts.map((bytes, index) => verifyOutput(task, bytes, boxes[index]));
  };

function countOutputs(task: PixelTask, images: number, masks: number): number {
  if (task.name === "cut") return masks;
  return task.name === "blend" ? images - 1 : 1;
}

/** The size and format that a task promises, read from the header of its result. */
function verifyOutput(task: PixelTask, bytes: Uint8Array, box: unknown): PixelOutput {
  const { media_type, width, height } = readImageStructure(bytes);
  const size = task.name === "combine" ? task.layout : "size" in task ? task.size : { width, height };
  const format = task.name === "combine" ? task.output_format : "png";
  if (width !== size.width || height !== size.height || media_type !== `image/${format}`)
    throw undecodableImage("pixels", "the isolated process returned another image");
  return { bytes, ...(isBoxWithin(box, size) && { box }) };
}

const isBoxWithin = (box: unknown, size: ImageSize): box is NonNullable<PixelOutput["box"]> => {
  if (typeof box !== "object" || box === null) return false;
  const { x, y, width, height } = box as Record<string, unknown>;
  const isValid = [x, y, width, height].every((value) => Number.isSafeInteger(value) && (value as number) >= 0);
  return isValid && Number(x) + Number(width) <= size.width && Number(y) + Number(height) <= size.height;
};

/** Several files in one message: their lengths are in the header. */
export const joinParts = (header: DecoderMessage["header"], parts: Uint8Array[]): DecoderMessage => ({
  header: { ...header, lengths: parts.map(({ byteLength }) => byteLength) },
  bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts),
});

/** Throws if the lengths do not match the bytes. */
export function splitParts({ header, bytes }: DecoderMessage): Uint8Array[] {
  const lengths = Array.isArray(header.lengths) ? header.lengths.map(Number) : [];
  let at = 0;
  const parts = lengths.map((length) => {
    if (!Number.isSafeInteger(length) || length < 0) throw undecodableImage("pixels", "invalid lengths");
    at += length;
    return bytes.subarray(at - length, at);
  });
  if (at !== bytes.byteLength) throw undecodableImage("pixels", "the lengths do not match the bytes");
  return parts;
}
