// Tells the background from what stands before it: it begins at the edges of a picture and goes on as long as the
// colour does not jump.

import type { Size } from "../size.ts";
import { distance, type Lab, labAt } from "./lab.ts";
import { grow } from "./regions.ts";

/** The largest step between neighbours that still looks like shading. */
const shading = 0.022;
/** Colours this near to one on the edge are background even beyond a jump, as with grain and fine lines. */
const alike = 0.05;

type Edge = { lab: Lab; count: number; hasCorner: boolean };

const edgeCells = ({ width, height }: Size): number[] => [
  ...Array.from({ length: width }, (_, x) => x),
  ...Array.from({ length: width }, (_, x) => (height - 1) * width + x),
  ...Array.from({ length: height - 2 }, (_, y) => (y + 1) * width),
  ...Array.from({ length: height - 2 }, (_, y) => (y + 2) * width - 1),
];

const groupEdge = (size: Size, labs: Float32Array, cells: readonly number[]) => {
  const { width, height } = size;
  const corners = new Set([0, width - 1, (height - 1) * width, height * width - 1]);
  const groups: Edge[] = [];
  const groupOf = cells.map((cell) => {
    const lab = labAt(labs, cell);
    let group = groups.find((known) => distance(known.lab, lab) < alike);
    if (!group) {
      group = { lab, count: 0, hasCorner: false };
      groups.push(group);
    }
    group.count += 1;
    group.hasCorner ||= corners.has(cell);
    return group;
  });
  return { groups, groupOf };
};

/** Marks the cells of the background. A thing that only leans on an edge, without a corner, is not taken for it. */
export const backgroundOf = (size: Size, labs: Float32Array): Uint8Array => {
  const cells = edgeCells(size);
  const { groups, groupOf } = groupEdge(size, labs, cells);
  const isBackground = (edge: Edge): boolean => edge.hasCorner || edge.count > cells.length * 0.22;
  const starts = cells.filter((_, index) => isBackground(groupOf[index]!));
  const colours = groups.filter(isBackground).map(({ lab }) => lab);
  const belongs = (from: number, to: number): boolean => {
    const lab = labAt(labs, to);
    return distance(labAt(labs, from), lab) < shading || colours.some((colour) => distance(colour, lab) < alike);
  };
  const marks = new Uint8Array(size.width * size.height);
  for (const cell of grow(size, starts, belongs)) marks[cell] = 1;
  return marks;
};

/** What goes on without a jump from the upper or the lower edge: sky or ground. */
export const reachOf = (size: Size, labs: Float32Array, edge: "top" | "bottom"): number[] => {
  const { width, height } = size;
  const first = edge === "top" ? 0 : (height - 1) * width;
  const starts = Array.from({ length: width }, (_, x) => first + x);
  return grow(size, starts, (from, to) => distance(labAt(labs, from), labAt(labs, to)) < shading);
};
