// Merges masks of one size to one mask: a pixel is marked if one of the masks marks it, or if it is near such a pixel.
import "./allowed-formats.ts";
import type { ImageSize } from "../../formats/image-size.ts";
import { readGrey, writeGrey } from "./pixels.ts";

/** From this grey value on, a pixel counts as marked and is extended. */
const MARKED = 128;

/** `margin` is a number of pixels. */
export async function mergeMasks(masks: Uint8Array[], size: ImageSize, margin: number): Promise<Uint8Array> {
  const merged = new Uint8Array(size.width * size.height);
  for (const mask of masks) {
    const grey = await readGrey(mask, size);
    for (let at = 0; at < merged.length; at++) if (grey[at]! > merged[at]!) merged[at] = grey[at]!;
  }
  if (margin > 0) {
    const { width, height } = size;
    extendLines(merged, { lines: height, length: width, lineStep: width, step: 1, margin });
    extendLines(merged, { lines: width, length: height, lineStep: 1, step: width, margin });
  }
  return writeGrey(merged, size);
}

type LineLayout = { lines: number; length: number; lineStep: number; step: number; margin: number };

/** Marks the pixels before and after each marked pixel of a line: all rows, or all columns. */
function extendLines(mask: Uint8Array, { lines, length, lineStep, step, margin }: LineLayout): void {
  const isMarked = new Uint8Array(length);
  for (let line = 0; line < lines; line++) {
    const start = line * lineStep;
    for (let at = 0; at < length; at++) isMarked[at] = mask[start + at * step]! >= MARKED ? 1 : 0;
    let lastMarked = Number.NEGATIVE_INFINITY;
    for (let at = 0; at < length; at++) {
      if (isMarked[at]) lastMarked = at;
      if (at - lastMarked <= margin) mask[start + at * step] = 255;
    }
    let nextMarked = Number.POSITIVE_INFINITY;
    for (let at = length - 1; at >= 0; at--) {
      if (isMarked[at]) nextMarked = at;
      if (nextMarked - at <= margin) mask[start + at * step] = 255;
    }
  }
}
