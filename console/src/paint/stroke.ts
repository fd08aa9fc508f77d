// The brush: a round tip that moves along a line. A pixel gets the value of the nearest point of the line, so a stroke
// has no gaps at any speed, and going over a pixel twice does not darken it.
import { clipRectangle, type Mask, type PixelRectangle } from "./mask.ts";

/** A point of a stroke in pixels of the image, with the radius that the tip has there. */
export type StrokePoint = { x: number; y: number; radius: number };

export type Tip = {
  /** From 0 to 1: the part of the radius with the full value. The value falls evenly from there to the edge. */
  hardness: number;
  isEraser: boolean;
};

/** At least one pixel of falloff, so that hard edges are smooth. */
const SMOOTH_EDGE = 1;

/** Paints from one point to the next, or a dot if both are the same. Returns what changed. */
export function paintSegment(mask: Mask, from: StrokePoint, to: StrokePoint, tip: Tip): PixelRectangle | undefined {
  const area = clipRectangle(mask, boundsOfSegment(from, to));
  if (!area) return undefined;
  const [alongX, alongY] = [to.x - from.x, to.y - from.y];
  const squaredLength = alongX * alongX + alongY * alongY;
  for (let row = area.y; row < area.y + area.height; row++) {
    for (let column = area.x; column < area.x + area.width; column++) {
      // The center of the pixel.
      const [x, y] = [column + 0.5 - from.x, row + 0.5 - from.y];
      const along = squaredLength === 0 ? 0 : Math.min(1, Math.max(0, (x * alongX + y * alongY) / squaredLength));
      const [awayX, awayY] = [x - along * alongX, y - along * alongY];
      const distance = Math.sqrt(awayX * awayX + awayY * awayY);
      const value = valueAt(distance, from.radius + along * (to.radius - from.radius), tip.hardness);
      if (value > 0) setValue(mask, row * mask.width + column, value, tip.isEraser);
    }
  }
  return area;
}

function valueAt(distance: number, radius: number, hardness: number): number {
  const falloff = Math.max(SMOOTH_EDGE, radius * (1 - hardness));
  const share = (radius + SMOOTH_EDGE / 2 - distance) / falloff;
  return Math.round(Math.min(1, Math.max(0, share)) * 255);
}

function setValue({ values }: Mask, pixel: number, value: number, isEraser: boolean): void {
  const own = values[pixel]!;
  values[pixel] = isEraser ? Math.min(own, 255 - value) : Math.max(own, value);
}

function boundsOfSegment(from: StrokePoint, to: StrokePoint): PixelRectangle {
  const reach = Math.max(from.radius, to.radius) + SMOOTH_EDGE;
  const [x, y] = [Math.min(from.x, to.x) - reach, Math.min(from.y, to.y) - reach];
  return {
    x,
    y,
    width: Math.max(from.x, to.x) + reach - x,
    height: Math.max(from.y, to.y) + reach - y,
  };
}
