// Finds what a prompt names in a picture. It looks from afar, then follows the edges at the full size.
import type { Size } from "../size.ts";
import type { Box } from "../tasks/task.ts";
import { backgroundOf, reachOf } from "./background.ts";
import { colourName } from "./colour-names.ts";
import { labAt, labsOf } from "./lab.ts";
import { matteOf } from "./matte.ts";
import { fromAfar, type Pixels } from "./pixels.ts";
import { type Query, readQuery } from "./query.ts";
import { alongEdges, piecesOf, type Region, regionOf } from "./regions.ts";
import { shapeFit } from "./shape.ts";

const lookSide = 320;
const mostFound = 8;

export type Found = { name: string; score: number; box: Box; alpha: Buffer };

const leastArea = ({ width, height }: Size): number => Math.max(4, width * height * 0.0005);

/** All that stands before the background, the largest first. */
export const objectsIn = (small: Pixels, labs: Float32Array): Region[] => {
  const marks = backgroundOf(small, labs).map((mark) => 1 - mark);
  return piecesOf(small, marks, leastArea(small));
};

const lightIn = (small: Pixels, labs: Float32Array): Region[] => {
  const upper = Math.floor(small.height * 0.75) * small.width;
  let brightest = 0;
  for (let cell = 0; cell < upper; cell += 1) brightest = Math.max(brightest, labs[cell * 3]!);
  const marks = Uint8Array.from({ length: small.width * small.height }, (_, cell) =>
    cell < upper && labs[cell * 3]! > brightest - 0.04 ? 1 : 0,
  );
  return piecesOf(small, marks, leastArea(small)).filter((piece) => alongEdges(piece) === 0);
};

const candidates = (small: Pixels, labs: Float32Array, { kind, colours }: Query): Region[] => {
  if (kind === "light") return lightIn(small, labs);
  if (kind === "sky" || kind === "ground") {
    return [regionOf(small, reachOf(small, labs, kind === "sky" ? "top" : "bottom"))];
  }
  if (kind === "background") {
    const marks = backgroundOf(small, labs);
    return [
      regionOf(
        small,
        [...marks.keys()].filter((cell) => marks[cell]),
      ),
    ];
  }
  if (!colours.length) return objectsIn(small, labs);
  const marks = Uint8Array.from({ length: small.width * small.height }, (_, cell) =>
    colours.includes(colourName(labAt(labs, cell))) ? 1 : 0,
  );
  return piecesOf(small, marks, leastArea(small));
};

const placeFit = (place: number, asked: "left" | "top" | "middle" | "right" | "bottom" | undefined): number => {
  if (!asked) return 1;
  if (asked === "middle") return 1 - Math.min(0.7, Math.abs(place - 0.5) * 1.6);
  const way = asked === "left" || asked === "top" ? 1 - place : place;
  return way > 0.5 ? 0.7 + way * 0.3 : 0.2 + way * 0.4;
};

type Scored = { region: Region; score: number };

const judge = (regions: Region[], query: Query): Scored[] => {
  const largest = Math.max(...regions.map(({ area }) => area));
  const scored = regions.map((region) => {
    // What lies along the edges is rarely the thing that somebody means.
    const edge = query.kind || alongEdges(region) < 0.2 ? 1 : 0.3;
    const place = placeFit(region.x, query.across) * placeFit(region.y, query.down);
    const bulk = 0.6 + 0.4 * Math.sqrt(region.area / largest);
    return { region, score: 0.99 * edge * place * shapeFit(region, query.shape) * (query.size ? 1 : bulk) };
  });
  scored.sort((one, other) => other.score - one.score);
  const likely = scored.filter(({ score }) => score > (scored[0]?.score ?? 0) * 0.5);
  if (!query.size) return likely;
  const way = query.size === "largest" ? -1 : 1;
  return likely.sort((one, other) => way * (one.region.area - other.region.area)).slice(0, 1);
};

const boxOf = (alpha: Buffer, { width, height }: Size): Box => {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let pixel = 0; pixel < alpha.length; pixel += 1) {
    if (alpha[pixel]! < 128) continue;
    const x = pixel % width;
    const y = (pixel - x) / width;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return right < 0
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
};

export const look = async (pixels: Pixels): Promise<{ small: Pixels; labs: Float32Array }> => {
  const small = await fromAfar(pixels, lookSide);
  return { small, labs: labsOf(small) };
};

/** What the prompt names, the likeliest first: one, or with `isMultiple` all up to eight. Nothing is an empty list. */
export const findIn = async (pixels: Pixels, prompt: string, isMultiple: boolean): Promise<Found[]> => {
  const query = readQuery(prompt);
  const { small, labs } = await look(pixels);
  const judged = judge(candidates(small, labs, query), query).slice(0, isMultiple ? mostFound : 1);
  return judged
    .map(({ region, score }) => {
      const { alpha } = matteOf(pixels, small, region.cells);
      return { name: query.name, score: Math.round(score * 1000) / 1000, box: boxOf(alpha, pixels), alpha };
    })
    .filter(({ box }) => box.width > 0);
};

/** The edge of everything that stands before the background. */
export const foregroundOf = async (pixels: Pixels) => {
  const { small, labs } = await look(pixels);
  const cells = new Uint8Array(small.width * small.height);
  for (const { cells: part } of objectsIn(small, labs))
    part.forEach((cell, index) => {
      if (cell) cells[index] = 1;
    });
  return { ...matteOf(pixels, small, cells), isEmpty: !cells.includes(1) };
};
