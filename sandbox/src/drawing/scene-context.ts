// The context of every scene, and the few shapes that all scenes share. Drawing is text (SVG) and pure.

import type { Palette } from "./palette.ts";
import type { SeededRandom } from "./seeded-random.ts";

export type SceneContext = {
  width: number;
  height: number;
  /** The shorter side: the unit for sizes, so that a banner and a square look alike. */
  unit: number;
  chance: SeededRandom;
  palette: Palette;
};

export type Scene = (context: SceneContext) => string;

export type Point = readonly [x: number, y: number];

/** One decimal is finer than a pixel, and keeps the SVG short. */
export const round = (value: number): string => String(Math.round(value * 10) / 10);

export const gradient = (name: string, stops: readonly (readonly [number, string, number?])[], isAcross = false) => {
  const marks = stops.map(
    ([offset, colour, opacity = 1]) => `<stop offset="${offset}" stop-color="${colour}" stop-opacity="${opacity}"/>`,
  );
  const way = isAcross ? 'x1="0" y1="0" x2="1" y2="0"' : 'x1="0" y1="0" x2="0" y2="1"';
  return `<linearGradient id="${name}" ${way}>${marks.join("")}</linearGradient>`;
};

export const glow = (name: string, colour: string, strength: number) =>
  `<radialGradient id="${name}"><stop offset="0" stop-color="${colour}" stop-opacity="${strength}"/>` +
  `<stop offset=".45" stop-color="${colour}" stop-opacity="${strength * 0.3}"/>` +
  `<stop offset="1" stop-color="${colour}" stop-opacity="0"/></radialGradient>`;

/** A closed shape under a line, down to the lower edge. */
export const fillBelow = (line: readonly Point[], context: SceneContext, fill: string): string => {
  const points = line.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
  return `<path d="M-2 ${context.height + 2}L${points}L${context.width + 2} ${context.height + 2}Z" fill="${fill}"/>`;
};
