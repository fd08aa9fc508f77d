// The names people give to colours: from a colour to its name, and from a word in a prompt to the names it may mean.
import type { Lab } from "./lab.ts";

const colourNames = [
  "red",
  "orange",
  "yellow",
  "green",
  "turquoise",
  "blue",
  "purple",
  "magenta",
  "pink",
  "brown",
  "beige",
  "white",
  "grey",
  "black",
] as const;

export type ColourName = (typeof colourNames)[number];

const greyName = (lightness: number): ColourName => {
  if (lightness > 0.93) return "white";
  return lightness < 0.3 ? "black" : "grey";
};

const warmName = (lightness: number, chroma: number, hue: number): ColourName => {
  if (lightness > 0.8 && chroma < 0.075) return "beige";
  if (hue < 42) {
    if (lightness > 0.74) return "pink";
    return chroma < 0.1 ? "brown" : "red";
  }
  if (hue < 80) return lightness < 0.6 && chroma < 0.15 ? "brown" : "orange";
  return lightness < 0.5 && chroma < 0.1 ? "brown" : "yellow";
};

/** The bounds of hue, in degrees, were set by looking at the usual swatches in this space. */
export const colourName = ([lightness, a, b]: Lab): ColourName => {
  const chroma = Math.hypot(a, b);
  if (chroma < 0.03 || lightness < 0.16) return greyName(lightness);
  const hue = (Math.atan2(b, a) * 180) / Math.PI;
  const turn = hue < 0 ? hue + 360 : hue;
  if (turn >= 12 && turn < 112) return warmName(lightness, chroma, turn);
  if (turn >= 112 && turn < 172) return "green";
  if (turn >= 172 && turn < 218) return chroma < 0.04 ? greyName(lightness) : "turquoise";
  if (turn >= 218 && turn < 283) return chroma < 0.04 ? greyName(lightness) : "blue";
  if (turn >= 283 && turn < 320) return "purple";
  if (turn >= 320 && turn < 345) return lightness > 0.78 ? "pink" : "magenta";
  return lightness > 0.6 ? "pink" : "red";
};

const meanings: Record<string, readonly ColourName[]> = {
  red: ["red"],
  crimson: ["red"],
  scarlet: ["red"],
  orange: ["orange"],
  amber: ["orange", "yellow"],
  yellow: ["yellow"],
  gold: ["yellow", "orange"],
  golden: ["yellow", "orange"],
  green: ["green"],
  emerald: ["green", "turquoise"],
  olive: ["green", "yellow"],
  lime: ["green"],
  mint: ["green", "turquoise"],
  teal: ["turquoise"],
  turquoise: ["turquoise"],
  cyan: ["turquoise", "blue"],
  blue: ["blue"],
  azure: ["blue"],
  navy: ["blue"],
  indigo: ["purple", "blue"],
  violet: ["purple", "magenta"],
  purple: ["purple", "magenta"],
  lilac: ["purple", "magenta"],
  lavender: ["purple"],
  magenta: ["magenta", "purple"],
  pink: ["pink", "magenta"],
  rose: ["pink", "red"],
  peach: ["orange", "pink", "beige"],
  coral: ["red", "orange", "pink"],
  brown: ["brown"],
  beige: ["beige"],
  white: ["white"],
  grey: ["grey"],
  gray: ["grey"],
  silver: ["grey"],
  black: ["black"],
};

export const colourNamesIn = (text: readonly string[]): ColourName[] => [
  ...new Set(text.flatMap((word) => (Object.hasOwn(meanings, word) ? (meanings[word] ?? []) : []))),
];
