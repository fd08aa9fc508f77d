// Finds a figure that the sandbox drew, by its outline at the places where figures stand. In an image without that
// figure there is no edge along the outline, and nothing is found.
import sharp from "sharp";
import { type Figure, figureAlone } from "../drawing/figures.ts";
import type { Size } from "../size.ts";
import { distance, type Lab, labAt } from "./lab.ts";
import type { Pixels } from "./pixels.ts";

/** How far from the outline the colours of both sides are compared. */
const reach = 3;
/** The least difference of colour that is an edge. */
const edge = 0.045;
const leastShare = 0.6;
/** The outline must fit better here than beside it, or the image has edges everywhere. */
const leastAdvantage = 0.2;
const shifts = [
  [9, 0],
  [-9, 0],
  [0, 9],
  [0, -9],
] as const;

type Outline = Size & { alpha: Buffer };

/** The alpha of the figure in the size of `pixels`, if the image shows it. */
export const findDrawnFigure = async (
  figure: Figure,
  pixels: Pixels,
  { small, labs }: { small: Pixels; labs: Float32Array },
): Promise<Buffer | undefined> => {
  for (const drawing of figureAlone(figure, pixels)) {
    const outline = await outlineOf(drawing, small);
    const share = edgeShare(outline, labs, 0, 0);
    const beside = shifts.map(([x, y]) => edgeShare(outline, labs, x, y));
    if (share < leastShare || share < Math.max(...beside) + leastAdvantage) continue;
    return (await outlineOf(drawing, pixels)).alpha;
  }
  return undefined;
};

const outlineOf = async (drawing: string, { width, height }: Size): Promise<Outline> => ({
  width,
  height,
  alpha: await sharp(Buffer.from(drawing))
    .resize({ width, height, fit: "fill" })
    .ensureAlpha()
    .extractChannel(3)
    .raw()
    .toBuffer(),
});

/** The share of the outline, moved by so many cells, along which the image has an edge. */
function edgeShare(outline: Outline, labs: Float32Array, moveX: number, moveY: number): number {
  const { width, height, alpha } = outline;
  let [cells, edges] = [0, 0];
  for (let y = reach; y < height - reach; y += 1) {
    for (let x = reach; x < width - reach; x += 1) {
      const at = y * width + x;
      const isBorder = alpha[at]! >= 128 && [at - 1, at + 1, at - width, at + width].some((near) => alpha[near]! < 128);
      if (!isBorder) continue;
      cells += 1;
      const inside = meanLab(outline, labs, { x, y, moveX, moveY, isInside: true });
      const outside = meanLab(outline, labs, { x, y, moveX, moveY, isInside: false });
      if (inside && outside && distance(inside, outside) > edge) edges += 1;
    }
  }
  return cells === 0 ? 0 : edges / cells;
}

type Side = { x: number; y: number; moveX: number; moveY: number; isInside: boolean };

function meanLab({ width, height, alpha }: Outline, labs: Float32Array, side: Side): Lab | undefined {
  const sum = [0, 0, 0];
  let count = 0;
  for (let y = side.y - reach; y <= side.y + reach; y += 1) {
    for (let x = side.x - reach; x <= side.x + reach; x += 1) {
      const own = alpha[y * width + x]!;
      if (side.isInside ? own < 240 : own > 16) continue;
      const [toX, toY] = [x + side.moveX, y + side.moveY];
      if (toX < 0 || toY < 0 || toX >= width || toY >= height) continue;
      const lab = labAt(labs, toY * width + toX);
      for (let channel = 0; channel < 3; channel += 1) sum[channel]! += lab[channel]!;
      count += 1;
    }
  }
  return count === 0 ? undefined : [sum[0]! / count, sum[1]! / count, sum[2]! / count];
}
