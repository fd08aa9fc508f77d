// Small figures that a prompt can name: each is drawn in a box of 100 by 100 whose foot is the lower edge.
import { lightnessOf, mix } from "./colour.ts";
import { gradient, round, type SceneContext } from "./scene-context.ts";

export type Figure = "cat" | "fox" | "house" | "lighthouse" | "tree" | "boat" | "balloon" | "birds";

const sitting =
  "M30 100C22 78 30 62 38 52C33 46 32 38 33 29L32 10L45 21C48 20 54 20 57 21L70 10L69 29C70 38 69 46 64 52C74 62 81 80 77 100Z";

const drawings: Record<Figure, (ink: string, accent: string, light: string) => string> = {
  cat: (ink, _accent, light) =>
    `<path d="M72 96C98 99 104 78 92 64" fill="none" stroke="${ink}" stroke-width="7" stroke-linecap="round"/><path d="${sitting}" fill="${ink}"/><g fill="${lightnessOf(ink) > 0.6 ? "#22252e" : light}"><ellipse cx="44" cy="35" rx="3" ry="3.6"/><ellipse cx="58" cy="35" rx="3" ry="3.6"/></g>`,
  fox: (ink, accent, light) =>
    `<path d="M66 100C100 104 116 78 98 52C98 72 86 80 68 82Z" fill="${accent}"/><path d="M98 52C106 62 107 72 103 80C97 76 95 66 98 52Z" fill="${light}"/><path d="${sitting}" fill="${accent}"/><path d="M34 38C40 40 47 44 51 50C55 44 62 40 68 38C68 46 60 53 51 58C42 53 34 46 34 38ZM42 64C48 70 54 70 60 64C62 76 58 90 51 97C44 90 40 76 42 64Z" fill="${light}"/><g fill="${ink}"><circle cx="43" cy="36" r="2.3"/><circle cx="59" cy="36" r="2.3"/><circle cx="51" cy="56" r="2.8"/></g>`,
  house: (ink, accent, light) =>
    `<path d="M68 52V30H76V58" fill="${ink}"/><rect x="18" y="56" width="64" height="44" fill="${mix(ink, light, 0.72)}"/><path d="M8 60L50 24L92 60Z" fill="${accent}"/><rect x="43" y="74" width="15" height="26" fill="${ink}"/><g fill="${mix(light, "#ffc94d", 0.5)}"><rect x="25" y="68" width="12" height="12"/><rect x="64" y="68" width="12" height="12"/></g>`,
  lighthouse: (ink, accent, light) =>
    `<defs>${gradient(
      "beam",
      [
        [0, light, 0],
        [1, light, 0.45],
      ],
      true,
    )}</defs><path d="M50 13L-110 -16V48Z" fill="url(#beam)"/><path d="M40 24H60L66 100H34Z" fill="${mix(light, "#ffffff", 0.4)}"/><path d="M38.4 44H61.6L63.2 62H36.8ZM35.4 80H64.6L66 100H34Z" fill="${accent}"/><rect x="36" y="20" width="28" height="5" fill="${ink}"/><rect x="42" y="7" width="16" height="13" fill="${mix(light, "#ffd75e", 0.5)}"/><path d="M39 7L50 -3L61 7Z" fill="${ink}"/>`,
  tree: (ink, accent, light) =>
    `<path d="M46 100L48 56L36 44L38 42L49 50L50 30L54 30L54 52L66 42L68 44L55 58L57 100Z" fill="${ink}"/><g fill="${mix(accent, ink, 0.2)}"><circle cx="34" cy="40" r="20"/><circle cx="68" cy="40" r="20"/><circle cx="51" cy="24" r="25"/></g><g fill="${mix(accent, light, 0.3)}" opacity=".65"><circle cx="44" cy="18" r="12"/><circle cx="30" cy="36" r="9"/><circle cx="66" cy="34" r="10"/></g>`,
  boat: (ink, accent, light) =>
    `<path d="M47 8V74" stroke="${ink}" stroke-width="2.5"/><path d="M50 10C66 30 76 50 80 70H50Z" fill="${mix(light, "#ffffff", 0.5)}"/><path d="M44 18C32 36 24 54 20 70H44Z" fill="${accent}"/><path d="M8 76H92C86 92 76 98 64 98H34C22 98 13 90 8 76Z" fill="${ink}"/><path d="M4 101H96" stroke="${light}" stroke-width="2.5" stroke-linecap="round" opacity=".6"/>`,
  balloon: (ink, accent, light) =>
    `<path d="M40 68L44 86M60 68L56 86" stroke="${ink}" stroke-width="1.4"/><path d="M50 0C76 0 86 20 82 38C79 54 66 62 62 70H38C34 62 21 54 18 38C14 20 24 0 50 0Z" fill="${accent}"/><path d="M50 0C62 12 64 48 56 70H44C36 48 38 12 50 0ZM50 0C30 8 20 30 26 52C20 46 18 42 18 38C14 20 24 0 50 0Z" fill="${mix(accent, light, 0.6)}"/><rect x="42" y="86" width="16" height="13" rx="3" fill="${ink}"/>`,
  birds: (ink) =>
    `<g fill="none" stroke="${ink}" stroke-width="3" stroke-linecap="round"><path d="M10 40Q22 26 32 40Q42 26 54 40"/><path d="M60 18Q68 8 75 18Q82 8 90 18"/><path d="M66 66Q73 57 80 66Q87 57 94 66"/></g>`,
};

/** Where each figure stands: as shares of the stage, and its height as a share of the shorter side. */
const places: Record<"ground" | "water" | "sky", { x: number; foot: number; size: number }> = {
  ground: { x: 0.72, foot: 0.74, size: 0.24 },
  water: { x: 0.62, foot: 0.72, size: 0.26 },
  sky: { x: 0.3, foot: 0.38, size: 0.2 },
};

const homes: Record<Figure, keyof typeof places> = {
  cat: "ground",
  fox: "ground",
  house: "ground",
  lighthouse: "ground",
  tree: "ground",
  boat: "water",
  balloon: "sky",
  birds: "sky",
};

/** A hill in the foreground for figures that stand on the ground. */
export const knoll = ({ width, height, palette }: SceneContext, foot: number): string =>
  `<path d="M${round(width * 0.3)} ${height + 2}C${round(width * 0.48)} ${round(foot + (height - foot) * 0.2)} ${round(width * 0.6)} ${round(foot)} ${round(width * 0.76)} ${round(foot)}S${round(width * 0.95)} ${round(foot + height * 0.03)} ${width + 2} ${round(foot + height * 0.05)}V${height + 2}Z" fill="${mix(palette.near, palette.far, 0.18)}"/>`;

export type Ink = { ink: string; accent: string; light: string };

/** One figure by itself, with its foot on the lower edge of a square whose upper left corner is given. */
export const figureAt = (figure: Figure, x: number, y: number, side: number, { ink, accent, light }: Ink): string =>
  `<g transform="translate(${round(x)} ${round(y)}) scale(${(side / 100).toFixed(4)})">${drawings[figure](ink, accent, light)}</g>`;

export const figurePosition = (figure: Figure): keyof typeof places => homes[figure];

export const figures = (named: readonly Figure[], context: SceneContext, coat?: string): string => {
  const { width, height, unit, palette } = context;
  const counts = { ground: 0, water: 0, sky: 0 };
  let hasKnoll = false;
  return named
    .map((figure) => {
      const home = homes[figure];
      const place = places[home];
      const size = unit * place.size * (figure === "lighthouse" || figure === "tree" ? 1.5 : 1);
      const x = width * place.x - size / 2 - counts[home] * unit * 0.26;
      const foot = height * place.foot + counts[home] * height * 0.015;
      counts[home] += 1;
      const ink = palette.isDark ? mix(palette.near, "#000000", 0.25) : palette.near;
      // A cat without a colour is a silhouette; the others have their own accents.
      const body = figure === "cat" ? (coat ?? ink) : ink;
      const drawn = figureAt(figure, x, foot - size, size, { ink: body, accent: palette.accent, light: palette.light });
      const ground = home === "ground" && !hasKnoll ? knoll(context, foot - height * 0.004) : "";
      hasKnoll ||= home === "ground";
      return ground + drawn;
    })
    .join("");
};
