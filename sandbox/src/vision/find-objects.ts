// Finds what a prompt names in an image. It looks from afar, then follows the edges at the full size.

import { parseScenePrompt } from "../drawing/scene-prompt.ts";
import { boundingBox } from "../retouch/mask.ts";
import type { Size } from "../size.ts";
import type { Box } from "../tasks/task.ts";
import { computeMatte } from "./alpha-matte.ts";
import { backgroundOf, reachOf } from "./background.ts";
import { colourName } from "./colour-names.ts";
import { findDrawnFigure } from "./drawn-figure.ts";
import { labAt, labsOf } from "./lab.ts";
import { type ObjectQuery, parseObjectQuery } from "./object-query.ts";
import { downscale, type Pixels } from "./pixels.ts";
import { alongEdges, connectedRegions, measureRegion, type Region, withoutHoles } from "./regions.ts";
import { shapeFit, shapeOf } from "./shape.ts";

const lookSide = 320;
const mostFound = 8;

const nowhere: Box = { x: 0, y: 0, width: 0, height: 0 };

export type FoundObject = { name: string; score: number; box: Box; alpha: Buffer };

const leastArea = ({ width, height }: Size): number => Math.max(4, width * height * 0.0005);

/** All that stands before the background, the largest first. */
export const findRegions = (small: Pixels, labs: Float32Array): Region[] => {
  const marks = backgroundOf(small, labs).map((mark) => 1 - mark);
  return connectedRegions(small, marks, leastArea(small));
};

/** Bright discs in the upper part; the first step down from the brightest at which there is one. */
const lightIn = (small: Pixels, labs: Float32Array): Region[] => {
  const upper = Math.floor(small.height * 0.75) * small.width;
  let brightest = 0;
  for (let cell = 0; cell < upper; cell += 1) brightest = Math.max(brightest, labs[cell * 3]!);
  for (const below of [0.02, 0.05, 0.08, 0.12, 0.17]) {
    const marks = Uint8Array.from({ length: small.width * small.height }, (_, cell) =>
      cell < upper && labs[cell * 3]! > brightest - below ? 1 : 0,
    );
    const discs = connectedRegions(small, marks, leastArea(small) * 3).filter((piece) => shapeOf(piece) === "circle");
    if (discs.length) return discs;
  }
  return [];
};

const candidates = (small: Pixels, labs: Float32Array, { kind, colours }: ObjectQuery): Region[] => {
  if (kind === "light") return lightIn(small, labs);
  if (kind === "sky" || kind === "ground") {
    return [measureRegion(small, reachOf(small, labs, kind === "sky" ? "top" : "bottom"))];
  }
  if (kind === "background") {
    const marks = backgroundOf(small, labs);
    return [
      measureRegion(
        small,
        [...marks.keys()].filter((cell) => marks[cell]),
      ),
    ];
  }
  if (!colours.length) return findRegions(small, labs);
  const marks = Uint8Array.from({ length: small.width * small.height }, (_, cell) =>
    colours.includes(colourName(labAt(labs, cell))) ? 1 : 0,
  );
  return connectedRegions(small, marks, leastArea(small));
};

const placeFit = (place: number, input: "left" | "top" | "middle" | "right" | "bottom" | undefined): number => {
  if (!input) return 1;
  if (input === "middle") return 1 - Math.min(0.7, Math.abs(place - 0.5) * 1.6);
  const way = input === "left" || input === "top" ? 1 - place : place;
  return way > 0.5 ? 0.7 + way * 0.3 : 0.2 + way * 0.4;
};

/** Where nothing else is said, people mean what is near the middle. */
const centreFit = ({ x, y }: Region, { across, down, colours, kind }: ObjectQuery): number => {
  if (across || down || kind) return 1;
  const nearness = Math.exp(-((x - 0.5) ** 2 + (y - 0.47) ** 2) / 0.16);
  return colours.length ? 0.65 + 0.35 * nearness : 0.35 + 0.65 * nearness;
};

type Scored = { region: Region; fit: number; score: number };

const scoreRegions = (regions: Region[], query: ObjectQuery): Scored[] => {
  const largest = Math.max(...regions.map(({ area }) => area));
  const scored = regions.map((region) => {
    // Objects along the edges are rarely the ones meant.
    const edge = query.kind || alongEdges(region) < 0.2 ? 1 : 0.3;
    const place = placeFit(region.x, query.across) * placeFit(region.y, query.down);
    const fit = edge * place * shapeFit(region, query.shape);
    const weight = query.size ? 1 : (0.6 + 0.4 * Math.sqrt(region.area / largest)) * centreFit(region, query);
    return { region, fit, score: 0.99 * fit * weight };
  });
  const best = Math.max(...scored.map(({ fit }) => fit));
  const likely = scored.filter(({ fit }) => fit > best * 0.6).sort((one, other) => other.score - one.score);
  if (!query.size) return likely;
  const way = query.size === "largest" ? -1 : 1;
  return likely.sort((one, other) => way * (one.region.area - other.region.area)).slice(0, 1);
};

export const downscaleForSearch = async (pixels: Pixels): Promise<{ small: Pixels; labs: Float32Array }> => {
  const small = await downscale(pixels, lookSide);
  return { small, labs: labsOf(small) };
};

/** What the prompt names, the likeliest first: one, or with `isMultiple` all up to eight. Nothing is an empty list. */
export const findObjects = async (pixels: Pixels, prompt: string, isMultiple: boolean): Promise<FoundObject[]> => {
  const query = parseObjectQuery(prompt);
  const search = await downscaleForSearch(pixels);
  const { small, labs } = search;
  const [figure] = parseScenePrompt(query.name).figures;
  const drawn = figure && (await findDrawnFigure(figure, pixels, search));
  if (drawn) return [{ name: query.name, score: 0.99, box: boundingBox(drawn, pixels) ?? nowhere, alpha: drawn }];
  const judged = scoreRegions(candidates(small, labs, query), query).slice(0, isMultiple ? mostFound : 1);
  return judged
    .map(({ region, score }) => {
      const { alpha } = computeMatte(pixels, small, withoutHoles(small, region).cells);
      return {
        name: query.name,
        score: Math.round(score * 1000) / 1000,
        box: boundingBox(alpha, pixels) ?? nowhere,
        alpha,
      };
    })
    .filter(({ box }) => box.width > 0);
};

/** The edge of everything that stands before the background, except specks beside something large. */
export const foregroundMask = async (pixels: Pixels) => {
  const { small, labs } = await downscaleForSearch(pixels);
  const objects = findRegions(small, labs);
  const cells = new Uint8Array(small.width * small.height);
  for (const { cells: part, area } of objects) {
    if (area < objects[0]!.area * 0.03) break;
    part.forEach((cell, index) => {
      if (cell) cells[index] = 1;
    });
  }
  return { ...computeMatte(pixels, small, cells), isEmpty: !objects.length };
};
