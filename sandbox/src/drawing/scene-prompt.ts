// Parses a prompt for the things that scenes support: colours, a place, a time of day, weather and a few figures.
import type { Figure } from "./figures.ts";
import type { TimeOfDay } from "./palette.ts";
import type { Precipitation } from "./precipitation.ts";
import type { SceneName } from "./scenes.ts";

export type ScenePrompt = {
  colours: string[];
  scene?: SceneName | undefined;
  hour?: TimeOfDay | undefined;
  weather?: Precipitation | undefined;
  figures: Figure[];
};

export const colourWords: Record<string, string> = {
  red: "#d63a3a",
  crimson: "#b3162f",
  scarlet: "#e02d1b",
  orange: "#f08a2c",
  amber: "#f5ae2e",
  yellow: "#f2cf3a",
  gold: "#d9a520",
  golden: "#e0ac2b",
  green: "#3f9b57",
  emerald: "#1f9d6b",
  olive: "#7d8a3a",
  lime: "#9ccc3c",
  mint: "#7fd1ae",
  teal: "#1c8f8f",
  turquoise: "#35bdb4",
  cyan: "#2fb9d6",
  blue: "#2f6fd6",
  azure: "#3a8df0",
  navy: "#1c2f66",
  indigo: "#4a3fb0",
  violet: "#7d4fc9",
  purple: "#8440b8",
  lilac: "#b79be0",
  lavender: "#a898de",
  magenta: "#cf2f9e",
  pink: "#f07fae",
  rose: "#e8607f",
  peach: "#f7b08c",
  coral: "#f5705a",
  brown: "#7d5236",
  beige: "#d9c3a0",
  white: "#f4f4f2",
  grey: "#8c9196",
  gray: "#8c9196",
  silver: "#b4bcc4",
  black: "#1c1d22",
};

const sceneWords: Record<SceneName, string> = {
  mountains: "mountain peak alps hill hills valley cliff summit fjord volcano himalaya canyon",
  sea: "sea ocean beach coast lake water wave island harbour harbor bay ship boat sail lighthouse river",
  forest: "forest wood woods tree pine jungle fir birch taiga bear deer fox wolf",
  city: "city town street skyline building tower skyscraper urban tokyo york london paris berlin cyberpunk neon car",
  desert: "desert dune sand sahara camel oasis cactus pyramid",
  meadow: "meadow field flower garden grass spring tulip rose daisy bee butterfly farm countryside picnic",
  space: "space planet galaxy star stars cosmos orbit astronaut rocket saturn mars nebula universe alien",
  shapes: "geometric pattern abstract bauhaus mosaic tile quilt shape shapes logo icon",
  ribbons: "silk flow ribbon wavy fabric liquid smoke gradient paint dream",
};

const hourWords: Record<TimeOfDay, string> = {
  dawn: "dawn sunrise morning",
  day: "day noon daylight summer sunny sun",
  dusk: "dusk sunset evening twilight",
  night: "night midnight moon moonlit moonlight dark stars starry neon",
  mist: "fog foggy mist misty haze rain rainy storm grey gloomy",
  snow: "snow snowy winter ice icy frozen arctic christmas",
  sand: "desert sand dune autumn fall sahara",
  spring: "spring fresh garden meadow",
};

const weatherWords: Record<Precipitation, string> = {
  snow: "snow snowy snowfall snowing christmas",
  rain: "rain rainy raining storm stormy",
};

const figureWords: Record<Figure, string> = {
  cat: "cat kitten kitty",
  fox: "fox",
  house: "house home cabin cottage hut farm",
  lighthouse: "lighthouse",
  tree: "tree oak",
  boat: "boat ship sail sailing sailboat",
  balloon: "balloon",
  birds: "bird gull seagull swallow crane",
};

const firstMatch = <Name extends string>(table: Record<Name, string>, text: readonly string[]): Name | undefined =>
  allMatches(table, text)[0];

/** The names whose keywords occur, in the order of the prompt. */
const allMatches = <Name extends string>(table: Record<Name, string>, text: readonly string[]): Name[] => {
  const rows = (Object.keys(table) as Name[]).map((name) => [name, table[name].split(" ")] as const);
  const found = text.flatMap((word) => {
    const singular = word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
    return rows.filter(([, known]) => known.includes(word) || known.includes(singular)).map(([name]) => name);
  });
  return [...new Set(found)];
};

export const parseScenePrompt = (prompt: string): ScenePrompt => {
  const text = prompt.toLowerCase().match(/[a-z]+/g) ?? [];
  const colours = text.flatMap((word) => (Object.hasOwn(colourWords, word) ? [colourWords[word] as string] : []));
  return {
    colours: [...new Set(colours)].slice(0, 2),
    scene: firstMatch(sceneWords, text),
    hour: firstMatch(hourWords, text),
    weather: firstMatch(weatherWords, text),
    figures: allMatches(figureWords, text).slice(0, 3),
  };
};
