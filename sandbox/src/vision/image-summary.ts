// What can honestly be said about an image: its colours, its light, its shapes and where they are.
import type { Size } from "../size.ts";
import { type ColourName, colourName } from "./colour-names.ts";
import { downscaleForSearch, findRegions } from "./find-objects.ts";
import { distance, type Lab, labAt } from "./lab.ts";
import type { Across, Down, Shape } from "./object-query.ts";
import type { Pixels } from "./pixels.ts";
import { alongEdges, type Region } from "./regions.ts";
import { shapeOf } from "./shape.ts";

export type DetectedShape = { shape: Shape | "shape"; colour: ColourName; across: Across; down: Down };

export type ImageSummary = Size & {
  orientation: "square" | "portrait" | "landscape";
  brightness: "dark" | "medium" | "bright";
  contrast: "low" | "medium" | "high";
  /** The share of each colour, the largest first; traces are left out. */
  colours: { name: ColourName; share: number }[];
  shapes: DetectedShape[];
  /** Where land and sky meet, as a share of the height from above. */
  horizon: number | undefined;
};

const third = (share: number): 0 | 1 | 2 => (share < 0.38 ? 0 : share > 0.62 ? 2 : 1);

const meanOf = (labs: Float32Array, { cells, area }: Region): Lab => {
  const sum = [0, 0, 0];
  cells.forEach((cell, index) => {
    if (cell) for (let part = 0; part < 3; part += 1) sum[part]! += labs[index * 3 + part]!;
  });
  return [sum[0]! / area, sum[1]! / area, sum[2]! / area];
};

const coloursIn = (labs: Float32Array): ImageSummary["colours"] => {
  const counts = new Map<ColourName, number>();
  const total = labs.length / 3;
  for (let cell = 0; cell < total; cell += 1) {
    const name = colourName(labAt(labs, cell));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => ({ name, share: count / total }))
    .filter(({ share }) => share > 0.015)
    .sort((one, other) => other.share - one.share);
};

/** The row at which most columns change their colour at once, if there is one. */
const horizonIn = ({ width, height }: Size, labs: Float32Array): number | undefined => {
  const changed = (cell: number) => distance(labAt(labs, cell), labAt(labs, cell + 2 * width)) > 0.06;
  let best = { row: 0, share: 0 };
  for (let row = Math.floor(height * 0.15); row < Math.min(height - 3, height * 0.88); row += 1) {
    let count = 0;
    for (let x = 0; x < width; x += 1) if (changed(row * width + x)) count += 1;
    if (count / width > best.share) best = { row, share: count / width };
  }
  return best.share > 0.7 ? (best.row + 1.5) / height : undefined;
};

const lightOf = (labs: Float32Array) => {
  const total = labs.length / 3;
  let sum = 0;
  let squares = 0;
  for (let at = 0; at < labs.length; at += 3) {
    sum += labs[at]!;
    squares += labs[at]! ** 2;
  }
  const mean = sum / total;
  return { mean, spread: Math.sqrt(Math.max(0, squares / total - mean ** 2)) };
};

const orientationOf = ({ width, height }: Size): ImageSummary["orientation"] => {
  if (Math.abs(width / height - 1) < 0.03) return "square";
  return width > height ? "landscape" : "portrait";
};

export const summarizeImage = async (pixels: Pixels): Promise<ImageSummary> => {
  const { small, labs } = await downscaleForSearch(pixels);
  const { mean, spread } = lightOf(labs);
  const objects = findRegions(small, labs).filter((region) => alongEdges(region) < 0.2);
  const largest = objects[0]?.area ?? 0;
  const shapes = objects
    .filter(({ area }) => area > largest * 0.03)
    .slice(0, 6)
    .map((region) => ({
      shape: shapeOf(region) ?? ("shape" as const),
      colour: colourName(meanOf(labs, region)),
      across: (["left", "middle", "right"] as const)[third(region.x)],
      down: (["top", "middle", "bottom"] as const)[third(region.y)],
    }));
  return {
    width: pixels.width,
    height: pixels.height,
    orientation: orientationOf(pixels),
    brightness: mean < 0.42 ? "dark" : mean > 0.76 ? "bright" : "medium",
    contrast: spread < 0.07 ? "low" : spread > 0.19 ? "high" : "medium",
    colours: coloursIn(labs),
    shapes,
    horizon: horizonIn(small, labs),
  };
};
