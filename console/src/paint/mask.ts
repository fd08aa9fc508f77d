// A mask: one byte per pixel of the image, 255 where the edit may change it, 0 where the image stays. All changes are
// computed here and not by a canvas, so the same strokes give the same mask on every machine.

export type Mask = { readonly width: number; readonly height: number; readonly values: Uint8Array };

/** A rectangle of whole pixels. */
export type PixelRectangle = { x: number; y: number; width: number; height: number };

export type CombineMode = "add" | "subtract" | "replace";

/** From this value on, a pixel counts as marked. */
export const MARKED = 128;

export const createMask = (width: number, height: number): Mask => ({
  width,
  height,
  values: new Uint8Array(width * height),
});

export const wholeOf = ({ width, height }: Mask): PixelRectangle => ({ x: 0, y: 0, width, height });

/** The part of a rectangle within the mask, in whole pixels; undefined if there is none. */
export function clipRectangle({ width, height }: Mask, rectangle: PixelRectangle): PixelRectangle | undefined {
  const left = Math.max(0, Math.floor(rectangle.x));
  const top = Math.max(0, Math.floor(rectangle.y));
  const right = Math.min(width, Math.ceil(rectangle.x + rectangle.width));
  const bottom = Math.min(height, Math.ceil(rectangle.y + rectangle.height));
  return right > left && bottom > top ? { x: left, y: top, width: right - left, height: bottom - top } : undefined;
}

export function joinRectangles(
  first: PixelRectangle | undefined,
  second: PixelRectangle | undefined,
): PixelRectangle | undefined {
  if (!first || !second) return first ?? second;
  const x = Math.min(first.x, second.x);
  const y = Math.min(first.y, second.y);
  const right = Math.max(first.x + first.width, second.x + second.width);
  const bottom = Math.max(first.y + first.height, second.y + second.height);
  return { x, y, width: right - x, height: bottom - y };
}

export function copyRectangle({ width, values }: Mask, { x, y, ...size }: PixelRectangle): Uint8Array {
  const copy = new Uint8Array(size.width * size.height);
  for (let row = 0; row < size.height; row++) {
    const start = (y + row) * width + x;
    copy.set(values.subarray(start, start + size.width), row * size.width);
  }
  return copy;
}

export function pasteRectangle({ width, values }: Mask, { x, y, ...size }: PixelRectangle, pasted: Uint8Array): void {
  for (let row = 0; row < size.height; row++) {
    values.set(pasted.subarray(row * size.width, (row + 1) * size.width), (y + row) * width + x);
  }
}

export function fillRectangle({ width, values }: Mask, { x, y, ...size }: PixelRectangle, value: number): void {
  for (let row = y; row < y + size.height; row++) values.fill(value, row * width + x, row * width + x + size.width);
}

export function invertMask({ values }: Mask): void {
  for (let pixel = 0; pixel < values.length; pixel++) values[pixel] = 255 - values[pixel]!;
}

/** Adds another mask of the same size, takes it away, or puts it in place. */
export function combineMasks({ values }: Mask, other: Uint8Array, mode: CombineMode): void {
  for (let pixel = 0; pixel < values.length; pixel++) {
    const [own, added] = [values[pixel]!, other[pixel]!];
    if (mode === "add") values[pixel] = Math.max(own, added);
    else if (mode === "subtract") values[pixel] = Math.min(own, 255 - added);
    else values[pixel] = added;
  }
}

export type MaskFacts = { markedPixels: number; share: number; bounds: PixelRectangle | undefined; isEmpty: boolean };

/** How much of the image is marked, and the rectangle around everything that is not black. */
export function describeMask({ width, height, values }: Mask): MaskFacts {
  let markedPixels = 0;
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let pixel = 0; pixel < values.length; pixel++) {
    const value = values[pixel]!;
    if (value === 0) continue;
    if (value >= MARKED) markedPixels++;
    const x = pixel % width;
    const y = (pixel - x) / width;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  const bounds = right < 0 ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
  return { markedPixels, share: markedPixels / values.length, bounds, isEmpty: right < 0 };
}
