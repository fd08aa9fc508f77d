// The figures that a prompt can name: their drawings, their natural colours, and where they stand in a scene.
import { mix } from "./colour.ts";
import { bird, birds, cat, dog, fish, fox } from "./figures/animals.ts";
import { astronaut, robot } from "./figures/characters.ts";
import type { Ink } from "./figures/drawing.ts";
import { balloon, boat, flower, house, lighthouse, tree } from "./figures/landmarks.ts";
import { bicycle, bottle, car, chair, food, mug } from "./figures/objects.ts";
import { glow, round, type SceneContext } from "./scene-context.ts";
import type { SceneName } from "./scenes.ts";

const drawings = {
  cat,
  dog,
  fox,
  bird,
  birds,
  fish,
  house,
  lighthouse,
  tree,
  flower,
  boat,
  balloon,
  bicycle,
  car,
  mug,
  bottle,
  food,
  chair,
  robot,
  astronaut,
};

export type Figure = keyof typeof drawings;

/** As shares of the stage: the middle, the foot, and the height as a share of the shorter side. */
type Place = { x: number; foot: number; size: number };
const places = {
  ground: { x: 0.56, foot: 0.78, size: 0.4 },
  water: { x: 0.6, foot: 0.74, size: 0.36 },
  air: { x: 0.52, foot: 0.66, size: 0.4 },
  sky: { x: 0.3, foot: 0.42, size: 0.26 },
} satisfies Record<string, Place>;
type PlaceName = keyof typeof places;

/** `scene`: where the figure is if the prompt names no place. Without one, a landscape is chosen by the seed. */
type Habit = { place: PlaceName; colour?: string; scene?: SceneName; scale?: number };
const habits: Record<Figure, Habit> = {
  cat: { place: "ground" },
  dog: { place: "ground", colour: "#b9814a", scene: "meadow" },
  fox: { place: "ground", colour: "#e2762e", scene: "forest" },
  bird: { place: "air", colour: "#3f8fd0", scene: "forest" },
  birds: { place: "sky" },
  fish: { place: "air", colour: "#f28b2e", scene: "underwater" },
  house: { place: "ground", colour: "#c0503f", scale: 1.1 },
  lighthouse: { place: "ground", colour: "#cf4436", scene: "sea", scale: 1.3 },
  tree: { place: "ground", colour: "#4f8f46", scene: "meadow", scale: 1.4 },
  flower: { place: "ground", colour: "#e8557f", scene: "meadow", scale: 1.25 },
  boat: { place: "water", colour: "#d6453d", scene: "sea" },
  balloon: { place: "sky", colour: "#e5604d", scale: 1.3 },
  bicycle: { place: "ground", colour: "#d63a3a", scale: 1.1 },
  car: { place: "ground", colour: "#2f6fd6", scene: "city", scale: 1.2 },
  mug: { place: "ground", colour: "#e9e2d4", scene: "studio" },
  bottle: { place: "ground", colour: "#d99a8a", scene: "studio", scale: 1.1 },
  food: { place: "ground", scene: "studio", scale: 1.2 },
  chair: { place: "ground", colour: "#3f8a72", scene: "studio", scale: 1.2 },
  robot: { place: "ground", colour: "#7f97b0", scale: 1.15 },
  astronaut: { place: "ground", colour: "#e0653c", scene: "space", scale: 1.15 },
};

export const isInSky = (figure: Figure): boolean => habits[figure].place === "sky";
export const naturalColour = (figure: Figure): string | undefined => habits[figure].colour;
export const usualScene = (named: readonly Figure[]): SceneName | undefined =>
  named.map((figure) => habits[figure].scene).find((scene) => scene !== undefined);

/** A hill in the foreground for figures that stand on the ground. */
export const knoll = ({ width, height, palette }: SceneContext, foot: number): string =>
  `<path d="M${round(width * -0.05)} ${height + 2}C${round(width * 0.2)} ${round(foot + (height - foot) * 0.25)} ${round(width * 0.36)} ${round(foot)} ${round(width * 0.6)} ${round(foot)}S${round(width * 0.92)} ${round(foot + height * 0.03)} ${width + 2} ${round(foot + height * 0.06)}V${height + 2}Z" fill="${mix(palette.near, palette.far, 0.3)}"/>`;

/** One figure by itself, with its foot on the lower edge of a square whose upper left corner is given. */
export const figureAt = (figure: Figure, x: number, y: number, side: number, colours: Ink): string =>
  `<g transform="translate(${round(x)} ${round(y)}) scale(${(side / 100).toFixed(4)})">${drawings[figure](colours)}</g>`;

/** Light behind a figure, so that it stands out from a dark scene. */
const backlight = (name: string, x: number, y: number, size: number, colour: string): string =>
  `<defs>${glow(name, colour, 0.5)}</defs><circle cx="${round(x)}" cy="${round(y)}" r="${round(size * 0.85)}" fill="url(#${name})"/>`;

/** The first figure of a place is the subject; later ones stand smaller beside it, left and right in turn. */
const placeFigure = (figure: Figure, { width, height, unit }: Stage, before: number) => {
  const { place: placeName, scale = 1 } = habits[figure];
  const place = places[placeName];
  const size = unit * place.size * scale * (before ? 0.68 : 1);
  const side = before % 2 ? -1 : 1;
  const x = width * place.x + Math.ceil(before / 2) * side * unit * 0.34;
  const foot = height * place.foot - (before ? height * 0.02 : 0);
  return { x, foot, size };
};
type Stage = Pick<SceneContext, "width" | "height" | "unit">;

/** The figure alone where `figures` draws it, as the subject and as one of two beside it. */
export const figureAlone = (figure: Figure, size: Pick<Stage, "width" | "height">): string[] =>
  [0, 1, 2].map((before) => {
    const { width, height } = size;
    const place = placeFigure(figure, { width, height, unit: Math.min(width, height) }, before);
    const colours = { ink: "#000000", accent: "#000000", light: "#000000" };
    const drawn = figureAt(figure, place.x - place.size / 2, place.foot - place.size, place.size, colours);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${drawn}</svg>`;
  });

/** `coat` is the colour that the prompt gives to the first figure. `hasFloor`: the scene has its own ground. */
export const figures = (named: readonly Figure[], context: SceneContext, coat?: string, hasFloor = false): string => {
  const { height, palette } = context;
  const counts: Record<PlaceName, number> = { ground: 0, water: 0, air: 0, sky: 0 };
  let hasKnoll = hasFloor;
  const drawn = named.map((figure, index) => {
    const { place: placeName, colour } = habits[figure];
    const before = counts[placeName];
    counts[placeName] += 1;
    const { x, foot, size } = placeFigure(figure, context, before);
    const ink = palette.isDark ? mix(palette.near, "#000000", 0.25) : palette.near;
    const accent = (index === 0 ? coat : undefined) ?? colour ?? (figure === "cat" ? ink : palette.accent);
    const ground = placeName === "ground" && !hasKnoll ? knoll(context, foot - height * 0.012) : "";
    hasKnoll ||= placeName === "ground";
    const light =
      before || placeName === "sky" ? "" : backlight(`behind${index}`, x, foot - size / 2, size, palette.light);
    return {
      back: light + ground,
      figure: figureAt(figure, x - size / 2, foot - size, size, { ink, accent, light: palette.light }),
    };
  });
  return [...drawn.map(({ back }) => back), ...drawn.map(({ figure }) => figure).reverse()].join("");
};
