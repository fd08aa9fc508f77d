// Finds pieces of an image that hang together, and says where each is and what it looks like.
import type { Size } from "../size.ts";
import type { Box } from "../tasks/task.ts";

export type Region = {
  /** One byte a cell: 1 inside. */
  cells: Uint8Array;
  area: number;
  box: Box;
  /** The middle of its mass, as shares of the image. */
  x: number;
  y: number;
  /** Which share of the four edges of the image it lies along. */
  along: { top: number; right: number; bottom: number; left: number };
};

/** The cells of one region grown from `start`, while `belongs` lets it go on from one cell to the next. */
export const growRegion = (
  { width, height }: Size,
  starts: readonly number[],
  belongs: (from: number, to: number) => boolean,
  seen = new Uint8Array(width * height),
): number[] => {
  const found: number[] = [];
  for (const start of starts) {
    if (seen[start]) continue;
    seen[start] = 1;
    found.push(start);
  }
  for (let next = 0; next < found.length; next += 1) {
    const cell = found[next]!;
    const x = cell % width;
    const visit = (to: number): void => {
      if (seen[to] || !belongs(cell, to)) return;
      seen[to] = 1;
      found.push(to);
    };
    if (x > 0) visit(cell - 1);
    if (x < width - 1) visit(cell + 1);
    if (cell >= width) visit(cell - width);
    if (cell < width * (height - 1)) visit(cell + width);
  }
  return found;
};

export const measureRegion = ({ width, height }: Size, members: readonly number[]): Region => {
  const cells = new Uint8Array(width * height);
  let [left, top, right, bottom, sumX, sumY] = [width, height, 0, 0, 0, 0];
  const along = { top: 0, right: 0, bottom: 0, left: 0 };
  for (const cell of members) {
    const x = cell % width;
    const y = (cell - x) / width;
    cells[cell] = 1;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
    sumX += x;
    sumY += y;
    if (y === 0) along.top += 1 / width;
    if (y === height - 1) along.bottom += 1 / width;
    if (x === 0) along.left += 1 / height;
    if (x === width - 1) along.right += 1 / height;
  }
  return {
    cells,
    area: members.length,
    box: { x: left, y: top, width: right - left + 1, height: bottom - top + 1 },
    x: (sumX / members.length + 0.5) / width,
    y: (sumY / members.length + 0.5) / height,
    along,
  };
};

/** Images full of grain have thousands of pieces; only the largest are ever asked for. */
const mostPieces = 48;

/** The connected pieces of what is marked, except those smaller than `least` cells; the largest first. */
export const connectedRegions = (size: Size, marked: Uint8Array, least: number): Region[] => {
  const seen = new Uint8Array(marked.length);
  const pieces: number[][] = [];
  for (let cell = 0; cell < marked.length; cell += 1) {
    if (!marked[cell] || seen[cell]) continue;
    const members = growRegion(size, [cell], (_, to) => marked[to] === 1, seen);
    if (members.length >= least) pieces.push(members);
  }
  return pieces
    .sort((one, other) => other.length - one.length)
    .slice(0, mostPieces)
    .map((members) => measureRegion(size, members));
};

/** Closes the small holes of a region, such as a highlight on a ball; a ring keeps its large one. */
export const withoutHoles = (size: Size, region: Region): Region => {
  const { width, height } = size;
  const isAtEdge = (cell: number): boolean =>
    cell < width || cell >= width * (height - 1) || cell % width === 0 || cell % width === width - 1;
  const seen = Uint8Array.from(region.cells);
  const members: number[] = [];
  region.cells.forEach((isInside, cell) => {
    if (isInside) members.push(cell);
    if (seen[cell]) return;
    const hole = growRegion(size, [cell], (_, to) => !region.cells[to], seen);
    if (hole.length < region.area * 0.05 && !hole.some(isAtEdge)) for (const part of hole) members.push(part);
  });
  return members.length === region.area ? region : measureRegion(size, members);
};

export const alongEdges = ({ along }: Region): number => (along.top + along.right + along.bottom + along.left) / 4;
