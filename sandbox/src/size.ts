// The size of an image, from whichever of width, height and aspect ratio were given.

export type Size = { width: number; height: number };

const megapixel = 1024 * 1024;
const smallest = 16;
const largest = 2048;

const toStep = (length: number): number => Math.min(largest, Math.max(smallest, Math.round(length / 8) * 8));

export const resolveSize = (input: {
  width?: number | undefined;
  height?: number | undefined;
  aspect_ratio?: string | undefined;
}): Size => {
  const { width, height, aspect_ratio } = input;
  if (!aspect_ratio || (width && height)) return { width: width ?? 1024, height: height ?? 1024 };
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
