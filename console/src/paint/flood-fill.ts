// Fills the connected area around a pixel up to the edge of what is marked, such as the inside of a painted ring.
import { MARKED, type Mask, type PixelRectangle } from "./mask.ts";

/** Fills an unmarked area with white, or a marked one with black. Returns the rectangle around what changed. */
export function floodFill(mask: Mask, start: { x: number; y: number }): PixelRectangle | undefined {
  const { width, height, values } = mask;
  const [column, row] = [Math.floor(start.x), Math.floor(start.y)];
  if (column < 0 || row < 0 || column >= width || row >= height) return undefined;
  const isMarked = values[row * width + column]! >= MARKED;
  const belongs = (pixel: number) => values[pixel]! >= MARKED === isMarked;
  const value = isMarked ? 0 : 255;
  let [left, top, right, bottom] = [column, row, column, row];
  const open = [row * width + column];
  while (open.length > 0) {
    const seed = open.pop()!;
    if (!belongs(seed)) continue;
    const y = Math.floor(seed / width);
    const [rowStart, rowEnd] = [y * width, (y + 1) * width];
    let first = seed;
    while (first > rowStart && belongs(first - 1)) first--;
    let end = seed + 1;
    while (end < rowEnd && belongs(end)) end++;
    values.fill(value, first, end);
    left = Math.min(left, first - rowStart);
    right = Math.max(right, end - 1 - rowStart);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
    // One seed for each row of pixels above and below that touches this one.
    for (const neighbour of [-width, width]) {
      const isInside = neighbour < 0 ? y > 0 : y < height - 1;
      for (let pixel = first; isInside && pixel < end; pixel++) {
        const other = pixel + neighbour;
        if (belongs(other) && (pixel === first || !belongs(other - 1))) open.push(other);
      }
    }
  }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}
