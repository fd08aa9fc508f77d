// Which part of the image the stage shows: the zoom and where the upper left corner of the image is. Positions on the
// stage are CSS pixels; at a zoom of 1, one of them is one pixel of the image.
import type { Point } from "./polygon.ts";

export type View = { zoom: number; x: number; y: number };
export type Size = { width: number; height: number };

const MAX_ZOOM = 8;
const MIN_ZOOM = 0.05;
const FIT_MARGIN = 28;
const SMALL_STAGE = 600;
const SMALL_STAGE_MARGIN = 8;
/** This much of the image always stays on the stage, so that it cannot be lost. */
const KEEP_VISIBLE = 48;

export const ZOOM_STEPS = [0.25, 0.5, 1, 2, 4, 8];

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/** The whole image in the middle. Images that are smaller than the stage keep their size. */
export function fitView(stage: Size, image: Size): View {
  const margin = stage.width < SMALL_STAGE ? SMALL_STAGE_MARGIN : FIT_MARGIN;
  const [across, down] = [(stage.width - 2 * margin) / image.width, (stage.height - 2 * margin) / image.height];
  return centerView(stage, image, clamp(Math.min(across, down), MIN_ZOOM, 1));
}

/** The image in the middle. Whole pixels, so that an image at 100 % is sharp. */
export const centerView = (stage: Size, image: Size, zoom: number): View => ({
  zoom,
  x: Math.round((stage.width - image.width * zoom) / 2),
  y: Math.round((stage.height - image.height * zoom) / 2),
});

/** Another zoom, with the same pixel of the image below `anchor`. */
export function zoomAt({ zoom, x, y }: View, factor: number, anchor: Point): View {
  const next = clamp(zoom * factor, MIN_ZOOM, MAX_ZOOM);
  const scale = next / zoom;
  return { zoom: next, x: anchor.x - (anchor.x - x) * scale, y: anchor.y - (anchor.y - y) * scale };
}

export const moveView = (view: View, by: Point): View => ({ ...view, x: view.x + by.x, y: view.y + by.y });

export function keepInSight({ zoom, x, y }: View, stage: Size, image: Size): View {
  return {
    zoom,
    x: clamp(x, KEEP_VISIBLE - image.width * zoom, stage.width - KEEP_VISIBLE),
    y: clamp(y, KEEP_VISIBLE - image.height * zoom, stage.height - KEEP_VISIBLE),
  };
}

/** The view after two fingers have moved: their middle moves it, their distance zooms it. */
export function pinchView(view: View, before: readonly [Point, Point], after: readonly [Point, Point]): View {
  const middleOf = ([one, other]: readonly [Point, Point]) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
  const distanceOf = ([one, other]: readonly [Point, Point]) => Math.hypot(one.x - other.x, one.y - other.y);
  const [from, to] = [middleOf(before), middleOf(after)];
  const moved = moveView(view, { x: to.x - from.x, y: to.y - from.y });
  return zoomAt(moved, distanceOf(after) / Math.max(1, distanceOf(before)), to);
}

/** The next zoom of the fixed steps, for the keys + and −. */
export const nextZoom = (zoom: number, isLarger: boolean): number =>
  (isLarger ? ZOOM_STEPS.find((step) => step > zoom + 0.001) : ZOOM_STEPS.findLast((step) => step < zoom - 0.001)) ??
  zoom;

/** A position on the stage in pixels of the image. */
export const toImagePoint = ({ zoom, x, y }: View, point: Point): Point => ({
  x: (point.x - x) / zoom,
  y: (point.y - y) / zoom,
});
