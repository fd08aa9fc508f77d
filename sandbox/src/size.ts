// The size of an image, from whichever of width, height and aspect ratio were given.

export type Size = { width: number; height: number };

/** The side of a square image whose size is not requested. */
export const DEFAULT_SIDE = 1024;
const megapixel = DEFAULT_SIDE ** 2;
const smallest = 16;
const largest = 2048;

const toStep = (length: number): number => Math.min(largest, Math.max(smallest, Math.round(length / 8) * 8));

export const resolveSize = (input: {
  width?: number | undefined;
  height?: number | undefined;
  aspect_ratio?: string | undefined;
}): Size => {
  const { width, height, aspect_ratio } = input;
  if (!aspect_ratio || (width && height)) return { width: width ?? DEFAULT_SIDE, height: height ?? DEFAULT_SIDE };
  const [across = 1, down = 1] = aspect_ratio.split(":").map(Number);
  const ratio = across / down;
  if (width) return { width, height: toStep(width / ratio) };
  if (height) return { width: toStep(height * ratio), height };
  // A very long shape would exceed the largest side: then both sides shrink, and the shape is kept.
  const long = Math.min(largest, Math.sqrt(megapixel * Math.max(ratio, 1 / ratio)));
  return ratio >= 1
    ? { width: toStep(long), height: toStep(long / ratio) }
    : { width: toStep(long * ratio), height: toStep(long) };
};

type SizedRequest = {
  task: string;
  width?: number | undefined;
  height?: number | undefined;
  aspect_ratio?: string | undefined;
};

/** What is drawn from words has the size of its request, or a default for its shape. */
const DEFAULT_SHAPES: Record<string, string> = { "image.generate": "1:1", "video.generate": "16:9" };

/** Adds a smaller size than the default to a request without one. Most tests need an image, not a large one. */
export const withSide = <R extends SizedRequest>(request: R, side: number): R => {
  const shape = request.aspect_ratio ?? DEFAULT_SHAPES[request.task];
  const hasSize = request.width !== undefined || request.height !== undefined;
  if (side === DEFAULT_SIDE || hasSize || !(request.task in DEFAULT_SHAPES)) return request;
  const full = resolveSize({ aspect_ratio: shape });
  const scale = side / DEFAULT_SIDE;
  return { ...request, width: toStep(full.width * scale), height: toStep(full.height * scale) };
};
