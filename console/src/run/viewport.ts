// The part of the graph that is visible: how zooming, fitting and revealing change it.
export type Box = { x: number; y: number; width: number; height: number };
export type View = { x: number; y: number; scale: number };
type Size = { width: number; height: number };

const MIN_SCALE = 0.05;
const MAX_SCALE = 2;
const MARGIN = 28;
/** The visible part is known in steps, so that panning changes it seldom. */
const AREA_STEP = 320;

export const FIRST_VIEW: View = { x: MARGIN, y: MARGIN, scale: 1 };

/** Keeps the point of the frame where it is. */
export function zoomView({ x, y, scale }: View, factor: number, point: { x: number; y: number }): View {
  const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale * factor));
  const ratio = next / scale;
  return { x: point.x - (point.x - x) * ratio, y: point.y - (point.y - y) * ratio, scale: next };
}

/** The whole box, not larger than its own size. */
export function fitView(box: Box, { width, height }: Size): View {
  const scale = Math.min(1, (width - 2 * MARGIN) / box.width, (height - 2 * MARGIN) / box.height);
  const bounded = Math.max(MIN_SCALE, scale);
  return { x: MARGIN - box.x * bounded, y: MARGIN - box.y * bounded, scale: bounded };
}

/** Moves only as far as the box needs to be visible; the same view if it is. */
export function revealBox(view: View, box: Box, { width, height }: Size): View {
  const { x, y, scale } = view;
  const shift = (start: number, size: number, limit: number) =>
    start < MARGIN ? MARGIN - start : Math.min(0, limit - MARGIN - (start + size));
  const dx = shift(x + box.x * scale, box.width * scale, width);
  const dy = shift(y + box.y * scale, box.height * scale, height);
  return dx === 0 && dy === 0 ? view : { x: x + dx, y: y + dy, scale };
}

/** The visible part of the graph with a step of margin on each side, in steps. */
export function visibleArea({ x, y, scale }: View, { width, height }: Size): Box {
  const from = (start: number) => (Math.floor(start / AREA_STEP) - 1) * AREA_STEP;
  const to = (end: number) => (Math.ceil(end / AREA_STEP) + 1) * AREA_STEP;
  const [left, top] = [from(-x / scale), from(-y / scale)];
  return { x: left, y: top, width: to((width - x) / scale) - left, height: to((height - y) / scale) - top };
}

export const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export const isSameBox = (a: Box, b: Box): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
