// Fills the area within a closed line, for the lasso. Pixels whose center is inside get the full value.
import { clipRectangle, type Mask, type PixelRectangle } from "./mask.ts";

export type Point = { x: number; y: number };

export function fillPolygon(mask: Mask, points: readonly Point[], value: number): PixelRectangle | undefined {
  if (points.length < 3) return undefined;
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const area = clipRectangle(mask, { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y });
  if (!area) return undefined;
  for (let row = area.y; row < area.y + area.height; row++) {
    const crossings = crossingsAt(points, row + 0.5);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const start = Math.max(0, Math.ceil(crossings[pair]! - 0.5));
      const end = Math.min(mask.width, Math.ceil(crossings[pair + 1]! - 0.5));
      if (end > start) mask.values.fill(value, row * mask.width + start, row * mask.width + end);
    }
  }
  return area;
}

/** Where a horizontal line crosses the edges, from left to right. */
function crossingsAt(points: readonly Point[], y: number): number[] {
  return points
    .flatMap((from, index) => {
      const to = points[(index + 1) % points.length]!;
      if (from.y <= y === to.y <= y) return [];
      return from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x);
    })
    .sort((a, b) => a - b);
}
