// An image in a frame of another shape: it stays as it is, and the new area continues it.
import { z } from "zod";
import type { StoredRequest } from "../request.ts";
import { type Frame, frameAround, outpaint } from "../retouch/frame.ts";
import type { Size } from "../size.ts";
import { fitWithin, flattenOnWhite, readSource, toPng, uprightSize } from "../vision/pixels.ts";
import type { Task } from "./task.ts";
import { findRequestProblem, imageOutputs, parseOptions } from "./task-requirements.ts";

const whole = z.number().int().min(-32_768).max(32_768).optional();
const Options = z.object({
  grid_position_x: whole.describe("Where the left edge of the source lies in the frame."),
  grid_position_y: whole.describe("Where the upper edge of the source lies in the frame."),
  x_start: whole.describe("The edges of the frame, as the source counts its pixels; below 0 is outside of it."),
  x_end: whole,
  y_start: whole,
  y_end: whole,
});

const longestSide = 2048;

const boundsOf = ({ x_start, x_end, y_start, y_end }: z.infer<typeof Options>) =>
  x_start === undefined || x_end === undefined || y_start === undefined || y_end === undefined
    ? undefined
    : { left: x_start, top: y_start, width: x_end - x_start, height: y_end - y_start };

const within = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

/** The frame before anything is made smaller. */
const frameFor = (request: StoredRequest, source: Size): Frame => {
  const options = parseOptions(Options, request);
  const bounds = boundsOf(options);
  if (bounds) return { ...bounds, left: -bounds.left, top: -bounds.top };
  const { width, height, aspect_ratio } = request;
  const [across = 1, down = 1] = (aspect_ratio ?? "1:1").split(":").map(Number);
  const smallest = frameAround(source, width && height ? width / height : across / down);
  const isLarger = width && height && width >= smallest.width;
  const frame = isLarger
    ? { width, height, left: (width - source.width) >> 1, top: (height - source.height) >> 1 }
    : smallest;
  return {
    ...frame,
    left: within(options.grid_position_x ?? frame.left, 0, frame.width - source.width),
    top: within(options.grid_position_y ?? frame.top, 0, frame.height - source.height),
  };
};

const placeIn = (request: StoredRequest, source: Size) => {
  const frame = frameFor(request, source);
  const { width, height } = request;
  const input = width && height && !boundsOf(parseOptions(Options, request)) ? Math.max(width, height) : longestSide;
  const size = fitWithin(frame, input);
  const share = size.width / frame.width;
  const left = Math.round(frame.left * share);
  const top = Math.round(frame.top * share);
  const placed = fitWithin(source, Math.max(1, Math.round(Math.max(source.width, source.height) * share)));
  return { placed, frame: { ...size, left, top } };
};

const isOutside = (placed: Size, frame: Frame): boolean =>
  frame.left >= frame.width ||
  frame.top >= frame.height ||
  frame.left + placed.width <= 0 ||
  frame.top + placed.height <= 0;

export const imageReframe: Task = {
  name: "image.reframe",
  validate: (request) => {
    const bounds = boundsOf(Options.safeParse(request.options ?? {}).data ?? {});
    if (bounds && (bounds.width < 16 || bounds.height < 16))
      return "options: x_end and y_end must lie beyond the start";
    const hasShape = bounds || request.aspect_ratio || (request.width && request.height);
    if (!hasShape) return "aspect_ratio: is required without width and height";
    return findRequestProblem(request, { image: true, options: Options });
  },
  find: async ({ request, inputs }) => {
    const source = await uprightSize((await inputs())[0]!);
    const { frame, placed } = placeIn(request, source);
    if (isOutside(placed, frame)) {
      return { error: { code: "invalid_input", message: "The frame contains no part of the image." } };
    }
    return imageOutputs(request, frame);
  },
  renderOutput: async ({ request, inputs }) => {
    const image = (await inputs())[0]!;
    const { frame, placed } = placeIn(request, await uprightSize(image));
    return toPng(await outpaint(flattenOnWhite(await readSource(image, Math.max(placed.width, placed.height))), frame));
  },
};
