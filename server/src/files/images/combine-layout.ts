// Positions of images in a combined image. Images keep their sizes and are centered across the layout direction. All
// are scaled down only if the result would exceed the maximum image size.
import { type ImageSize, MAX_IMAGE_PIXELS, MAX_IMAGE_SIDE } from "../formats/image-size.ts";

export type CombineMode = "side-by-side" | "stacked" | "grid" | "overlay";
type ImagePlacement = ImageSize & { left: number; top: number };
export type CombineLayout = ImageSize & { places: ImagePlacement[] };

export const computeLayout = (mode: CombineMode, sizes: ImageSize[], gap: number): CombineLayout => {
  const natural = LAYOUTS[mode](sizes, gap);
  const scale = Math.min(
    1,
    MAX_IMAGE_SIDE / natural.width,
    MAX_IMAGE_SIDE / natural.height,
    Math.sqrt(MAX_IMAGE_PIXELS / (natural.width * natural.height)),
  );
  if (scale === 1) return natural;
  // Rounding down each image keeps the sum within the limit.
  const smaller = (length: number) => Math.max(1, Math.floor(length * scale));
  const scaled = sizes.map(({ width, height }) => ({ width: smaller(width), height: smaller(height) }));
  return LAYOUTS[mode](scaled, Math.floor(gap * scale));
};

/**
 * As many columns as rows, or one more. A column has the width of its widest image, a row the height of its highest.
 */
const grid = (sizes: ImageSize[], gap: number, columns = Math.ceil(Math.sqrt(sizes.length))): CombineLayout => {
  const rows = Math.ceil(sizes.length / columns);
  const inCell = (row: number, column: number) => sizes[row * columns + column];
  const widths = range(columns).map((column) => largest(range(rows).map((row) => inCell(row, column)?.width)));
  const heights = range(rows).map((row) => largest(range(columns).map((column) => inCell(row, column)?.height)));
  const places = sizes.map((size, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    return {
      ...size,
      left: begin(widths, column, gap) + centre(widths[column]!, size.width),
      top: begin(heights, row, gap) + centre(heights[row]!, size.height),
    };
  });
  return { width: begin(widths, columns, gap) - gap, height: begin(heights, rows, gap) - gap, places };
};

/** An overlay: the first image at the bottom, all centered. */
const overlay = (sizes: ImageSize[]): CombineLayout => {
  const width = largest(sizes.map((size) => size.width));
  const height = largest(sizes.map((size) => size.height));
  const places = sizes.map((size) => ({ ...size, left: centre(width, size.width), top: centre(height, size.height) }));
  return { width, height, places };
};

const LAYOUTS: Record<CombineMode, (sizes: ImageSize[], gap: number) => CombineLayout> = {
  "side-by-side": (sizes, gap) => grid(sizes, gap, sizes.length),
  stacked: (sizes, gap) => grid(sizes, gap, 1),
  grid,
  overlay,
};

const range = (length: number) => Array.from({ length }, (_, index) => index);
const largest = (lengths: (number | undefined)[]) => Math.max(...lengths.map((length) => length ?? 0));
/** A remaining odd pixel goes to the right or bottom. */
const centre = (available: number, length: number) => Math.floor((available - length) / 2);
const begin = (lengths: number[], index: number, gap: number) =>
  lengths.slice(0, index).reduce((sum, length) => sum + length + gap, 0);
