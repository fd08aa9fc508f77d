// The new frame of an image that is reframed, in pixels of the image. Negative positions are outside of it.
import type { FormValues } from "../forms/form-values.ts";
import type { PixelRectangle } from "./mask.ts";
import type { Point } from "./polygon.ts";
import type { Size } from "./view.ts";

/** "16:9" as a number; undefined for anything else. */
export function parseRatio(value: unknown): number | undefined {
  const [across, down, ...rest] = String(value ?? "")
    .split(":")
    .map(Number);
  const isRatio = rest.length === 0 && across !== undefined && down !== undefined && across > 0 && down > 0;
  return isRatio ? across / down : undefined;
}

/** The smallest frame of a ratio that holds the whole image, with the image in its middle. */
function frameAround({ width, height }: Size, ratio: number): PixelRectangle {
  const wide = Math.max(width, Math.round(height * ratio));
  const high = Math.max(height, Math.round(width / ratio));
  return { x: Math.floor((width - wide) / 2), y: Math.floor((height - high) / 2), width: wide, height: high };
}

/** The frame that the fields describe: its four edges, or the ratio with the image in the middle. */
export function frameOfValues(image: Size, values: FormValues): PixelRectangle | undefined {
  const edges = [values.x_start, values.x_end, values.y_start, values.y_end];
  const [left, right, top, bottom] = edges as number[];
  if (edges.every((edge) => typeof edge === "number") && right! > left! && bottom! > top!) {
    return { x: left!, y: top!, width: right! - left!, height: bottom! - top! };
  }
  const ratio = parseRatio(values.aspect_ratio);
  return ratio === undefined ? undefined : frameAround(image, ratio);
}

/** A frame that was dragged. It moves only as far as the image stays inside. */
export function moveFrame(image: Size, frame: PixelRectangle, by: Point): PixelRectangle {
  const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, Math.round(value)));
  return {
    ...frame,
    x: clamp(frame.x + by.x, Math.min(0, image.width - frame.width), 0),
    y: clamp(frame.y + by.y, Math.min(0, image.height - frame.height), 0),
  };
}

export const edgesOfFrame = ({ x, y, width, height }: PixelRectangle): FormValues => ({
  x_start: x,
  x_end: x + width,
  y_start: y,
  y_end: y + height,
});

/** The edges belong to one ratio, so another ratio starts in the middle again. */
export function withoutEdges({ x_start, x_end, y_start, y_end, ...rest }: FormValues): FormValues {
  return rest;
}
