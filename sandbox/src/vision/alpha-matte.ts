// Brings a coarse region up to the full size of its image: along its edge every pixel is weighed between the colours
// just inside and just outside.
import type { Size } from "../size.ts";
import type { Pixels } from "./pixels.ts";

type Colour = readonly [number, number, number];

/** How far around an undecided cell the colours of both sides are gathered. */
const reach = 4;

const isUndecided = (cells: Uint8Array, { width, height }: Size, x: number, y: number): boolean => {
  const own = cells[y * width + x];
  for (let downward = -1; downward <= 1; downward += 1) {
    for (let across = -1; across <= 1; across += 1) {
      const nearX = x + across;
      const nearY = y + downward;
      if (nearX < 0 || nearY < 0 || nearX >= width || nearY >= height) continue;
      if (cells[nearY * width + nearX] !== own) return true;
    }
  }
  return false;
};

const undecidedCells = (cells: Uint8Array, size: Size): Uint8Array => {
  const marks = new Uint8Array(cells.length);
  for (let y = 0; y < size.height; y += 1) {
    for (let x = 0; x < size.width; x += 1) marks[y * size.width + x] = isUndecided(cells, size, x, y) ? 1 : 0;
  }
  return marks;
};

type Coarse = { small: Pixels; cells: Uint8Array; undecided: Uint8Array };

/** The mean colour of the cells on one side near a cell; decided ones, or, where a thing is thin, any. */
const colourNear = ({ small, cells, undecided }: Coarse, cell: number, side: 0 | 1): Colour | undefined => {
  const { width, height, rgb } = small;
  const x = cell % width;
  const y = (cell - x) / width;
  for (const isStrict of [true, false]) {
    const sum = [0, 0, 0];
    let count = 0;
    for (let nearY = Math.max(0, y - reach); nearY <= Math.min(height - 1, y + reach); nearY += 1) {
      for (let nearX = Math.max(0, x - reach); nearX <= Math.min(width - 1, x + reach); nearX += 1) {
        const near = nearY * width + nearX;
        if (cells[near] !== side || (isStrict && undecided[near])) continue;
        for (let channel = 0; channel < 3; channel += 1) sum[channel]! += rgb[near * 3 + channel]!;
        count += 1;
      }
    }
    if (count) return [sum[0]! / count, sum[1]! / count, sum[2]! / count];
  }
  return undefined;
};

type Scale = { inside: Colour; way: Colour; length: number } | undefined;

const scaleOf = (coarse: Coarse, cell: number): Scale => {
  const inside = colourNear(coarse, cell, 1);
  const outside = colourNear(coarse, cell, 0);
  if (!inside || !outside) return undefined;
  const way = [outside[0] - inside[0], outside[1] - inside[1], outside[2] - inside[2]] as const;
  const length = way[0] ** 2 + way[1] ** 2 + way[2] ** 2;
  // Two sides of almost one colour say nothing about a pixel; then the coarse answer stands.
  return length < 60 ? undefined : { inside, way, length };
};

export type Matte = {
  /** One byte a pixel of the full image: 255 inside. */
  alpha: Buffer;
  /** What a pixel on the edge would be without the outside shining through. */
  insideColour(pixel: number): Colour | undefined;
};

export const computeMatte = (full: Pixels, small: Pixels, cells: Uint8Array): Matte => {
  const coarse = { small, cells, undecided: undecidedCells(cells, small) };
  const scales = new Map<number, Scale>();
  for (let cell = 0; cell < cells.length; cell += 1) {
    if (coarse.undecided[cell]) scales.set(cell, scaleOf(coarse, cell));
  }
  const { width, height, rgb } = full;
  const columns = Uint32Array.from({ length: width }, (_, x) => Math.floor((x * small.width) / width));
  const cellOf = (pixel: number): number =>
    Math.floor((Math.floor(pixel / width) * small.height) / height) * small.width + columns[pixel % width]!;
  const alpha = Buffer.alloc(width * height);
  for (let pixel = 0; pixel < alpha.length; pixel += 1) {
    const cell = cellOf(pixel);
    const scale = coarse.undecided[cell] ? scales.get(cell) : undefined;
    if (!scale) {
      alpha[pixel] = cells[cell] ? 255 : 0;
      continue;
    }
    const { inside, way, length } = scale;
    const at = pixel * 3;
    const along =
      (rgb[at]! - inside[0]) * way[0] + (rgb[at + 1]! - inside[1]) * way[1] + (rgb[at + 2]! - inside[2]) * way[2];
    // A little steeper than the truth, so that grain on either side stays fully in or out.
    alpha[pixel] = Math.round(255 * Math.min(1, Math.max(0, 0.5 + (0.5 - along / length) * 1.5)));
  }
  return { alpha, insideColour: (pixel) => scales.get(cellOf(pixel))?.inside };
};
