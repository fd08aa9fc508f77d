// An image changed as the prompt says; with a mask only where that is white.
import { modelBaseName } from "../drawing/draw-image.ts";
import type { StoredRequest } from "../request.ts";
import { editImage } from "../retouch/edit.ts";
import { type Frame, frameAround, outpaint } from "../retouch/frame.ts";
import { readMask } from "../retouch/mask.ts";
import type { Size } from "../size.ts";
import {
  fitWithin,
  flattenOnWhite,
  openPixels,
  type Pixels,
  readSource,
  toPng,
  uprightSize,
} from "../vision/pixels.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs } from "./task-requirements.ts";

const longestSide = 4096;

/** The frame of the requested ratio around the source; the source itself if its shape fits. */
const frameOf = ({ width, height, aspect_ratio }: StoredRequest, source: Size): Frame => {
  const same = { ...source, left: 0, top: 0 };
  const [across, down] = aspect_ratio?.split(":").map(Number) ?? [width, height];
  if (!across || !down) return same;
  const isAlike = Math.abs(Math.log((across / down) * (source.height / source.width))) < 0.012;
  return isAlike ? same : frameAround(source, across / down);
};

/** The source is made smaller where its frame would be too long. */
const sizesOf = (request: StoredRequest, original: Size) => {
  const whole = frameOf(request, original);
  const share = Math.min(1, longestSide / Math.max(whole.width, whole.height));
  const source = fitWithin(original, Math.max(original.width, original.height) * share);
  const { width: wide, height: tall } = fitWithin(whole, longestSide);
  const frame = { width: wide, height: tall, left: (wide - source.width) >> 1, top: (tall - source.height) >> 1 };
  const { width, height, mask } = request;
  // With a mask the pixels outside must not change, so the size is kept.
  const size = width && height && !mask ? { width, height } : { width: wide, height: tall };
  return { source, frame, size };
};

/** In a frame larger than the source the new area may change too. */
const maskIn = async (image: Buffer, source: Size, frame: Frame): Promise<Buffer> => {
  const inner = await readMask(image, source);
  if (frame.width === source.width && frame.height === source.height) return inner;
  const mask = Buffer.alloc(frame.width * frame.height, 255);
  for (let y = 0; y < source.height; y += 1) {
    inner.copy(mask, (y + frame.top) * frame.width + frame.left, y * source.width, (y + 1) * source.width);
  }
  return mask;
};

const resized = async (pixels: Pixels, size: Size): Promise<Pixels> =>
  size.width === pixels.width && size.height === pixels.height
    ? pixels
    : {
        ...size,
        rgb: await openPixels(pixels)
          .resize({ ...size, fit: "fill" })
          .raw()
          .toBuffer(),
      };

export const imageEdit: Task = {
  name: "image.edit",
  validate: (request) => {
    if (!request.prompt && !request.mask) return "prompt: is required without a mask";
    return findRequestProblem(request, { image: true });
  },
  find: async ({ request, inputs }) =>
    imageOutputs(request, sizesOf(request, await uprightSize((await inputs())[0]!)).size),
  renderOutput: async ({ request, seed, index, inputs }) => {
    const all = await inputs();
    const image = all[0]!;
    const { source, frame, size } = sizesOf(request, await uprightSize(image));
    const read = await readSource(image, Math.max(source.width, source.height));
    const isExtended = frame.width !== source.width || frame.height !== source.height;
    const ground = isExtended ? await outpaint(flattenOnWhite(read), frame) : read;
    const result = await editImage({
      source: ground,
      mask: request.mask && (await maskIn(all.at(-1)!, source, frame)),
      references: all.slice(1, request.images.length),
      prompt: request.prompt,
      seed: seed + index * 7919,
      model: modelBaseName(request.model),
    });
    const isWhole = !isExtended && size.width === source.width && size.height === source.height;
    return toPng(await resized(result, size), isWhole ? read.alpha : null);
  },
};
