// Says what form a region has, as far as its outline tells.

import type { Shape } from "./object-query.ts";
import type { Region } from "./regions.ts";

export const shapeOf = ({ area, box }: Region): Shape | undefined => {
  const fill = area / (box.width * box.height);
  const slant = Math.max(box.width / box.height, box.height / box.width);
  if (fill > 0.9) return slant < 1.15 ? "square" : "rectangle";
  if (fill > 0.7 && fill < 0.86 && slant < 1.35) return "circle";
  return fill > 0.42 && fill < 0.6 && slant < 2 ? "triangle" : undefined;
};

const kin: Partial<Record<Shape, Shape>> = { square: "rectangle", rectangle: "square" };

/** How well a region answers to the shape that was asked for. */
export const shapeFit = (region: Region, input: Shape | undefined): number => {
  if (!input) return 1;
  const shape = shapeOf(region);
  if (shape === input) return 1;
  if (!shape) return 0.6;
  return shape === kin[input] ? 0.9 : 0.3;
};
