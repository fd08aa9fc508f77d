// Tells the background from what stands before it: it begins at the edges of an image and goes on as long as the
// colour does not jump.

import type { Size } from "../size.ts";
import { distance, type Lab, labAt } from "./lab.ts";
import { growRegion } from "./regions.ts";

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
  for (const cell of growRegion(size, starts, belongs)) marks[cell] = 1;
  return marks;
};

/** How many cells a thin cloud or a mast may be high before the sky ends at it. */
const hop = 7;

/** What goes on without a jump from the upper or the lower edge: sky or ground. Thin things in it belong to it. */
export const reachOf = (size: Size, labs: Float32Array, edge: "top" | "bottom"): number[] => {
  const { width, height } = size;
  const first = edge === "top" ? 0 : (height - 1) * width;
  const way = edge === "top" ? width : -width;
  const seen = new Uint8Array(width * height);
  const isNear = (from: number, to: number): boolean => distance(labAt(labs, from), labAt(labs, to)) < shading;
  let found = growRegion(
    size,
    Array.from({ length: width }, (_, x) => first + x),
    isNear,
    seen,
  );
  const all = [...found];
  // Beyond a thin bar of another colour the same sky goes on: bars are stepped over until nothing new is reached.
  while (found.length) {
    const landings: number[] = [];
    for (const cell of found) {
      if (seen[cell + way] !== 0) continue;
      for (let step = 2; step <= hop; step += 1) {
        const landing = cell + way * step;
        if (landing < 0 || landing >= seen.length) break;
        if (distance(labAt(labs, cell), labAt(labs, landing)) > alike) continue;
        for (let under = 1; under < step; under += 1) {
          const between = cell + way * under;
          if (!seen[between]) all.push(between);
          seen[between] = 1;
        }
        if (!seen[landing]) landings.push(landing);
        break;
      }
    }
    found = growRegion(size, landings, isNear, seen);
    for (const cell of found) all.push(cell);
  }
  return all;
};
