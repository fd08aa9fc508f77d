// Parses a prompt for the things that scenes support: colours, a place, a time of day, weather, figures and people.
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
  /** A person, standing in the scene or as a portrait. */
  person?: "standing" | "portrait" | undefined;
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

/** Places. A figure has its usual place if the prompt names none (see figures.ts). */
const sceneWords: Record<SceneName, string> = {
  mountains: "mountain peak alps cliff summit fjord volcano himalaya glacier",
  hills: "hill hills valley canyon",
  underwater: "underwater aquarium reef undersea",
  sea: "sea ocean beach coast lake water wave island harbour harbor bay seaside shore river",
  forest: "forest wood woods pine jungle fir birch taiga branch bear deer wolf",
  city: "city town street skyline building tower skyscraper urban tokyo york london paris berlin cyberpunk neon",
  desert: "desert dune sand sahara camel oasis cactus pyramid",
  meadow: "meadow field garden grass spring bee butterfly farm countryside picnic park lawn",
  space: "space planet galaxy star stars cosmos orbit rocket saturn mars nebula universe alien",
  studio: "studio table desk kitchen room interior wall shelf portrait headshot",
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
  dog: "dog puppy retriever labrador poodle corgi terrier husky",
  fox: "fox",
  bird: "bird robin parrot sparrow owl hummingbird",
  birds: "birds gull seagull swallow crane flock",
  fish: "fish goldfish salmon",
  house: "house home cabin cottage hut farm",
  lighthouse: "lighthouse",
  tree: "tree oak",
  flower: "flower tulip daisy sunflower orchid rose bouquet",
  boat: "boat ship sail sailing sailboat yacht",
  balloon: "balloon",
  bicycle: "bicycle bike cycle",
  car: "car automobile taxi convertible",
  mug: "mug cup coffee tea espresso cappuccino",
  bottle: "product bottle perfume cosmetic packaging lotion shampoo wine",
  food: "food burger hamburger sandwich meal dish dinner lunch",
  chair: "chair armchair stool",
  robot: "robot android droid",
  astronaut: "astronaut cosmonaut spaceman",
};

const personWords = /\b(?:person|people|man|men|woman|women|girl|boy|child|human|lady|portrait|headshot|selfie)\b/;
const portraitWords = /\b(?:portrait|headshot|selfie|face)\b/;

const firstMatch = <Name extends string>(table: Record<Name, string>, text: readonly string[]): Name | undefined =>
  allMatches(table, text)[0];

/** The names whose keywords occur, in the order of the prompt. */
const allMatches = <Name extends string>(table: Record<Name, string>, text: readonly string[]): Name[] => {
  const rows = (Object.keys(table) as Name[]).map((name) => [name, table[name].split(" ")] as const);
  const found = text.flatMap((word) => {
    const singular = word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
    const exact = rows.filter(([, known]) => known.includes(word));
    // A keyword in the plural has a meaning of its own: birds are a flock far away, a bird is the subject.
    return (exact.length > 0 ? exact : rows.filter(([, known]) => known.includes(singular))).map(([name]) => name);
  });
  return [...new Set(found)];
};

export const parseScenePrompt = (prompt: string): ScenePrompt => {
  const lower = prompt.toLowerCase();
  const text = lower.match(/[a-z]+/g) ?? [];
  const figures = allMatches(figureWords, text).slice(0, 3);
  const colours = text.flatMap((word) => (Object.hasOwn(colourWords, word) ? [colourWords[word] as string] : []));
  const isPortrait = portraitWords.test(lower) && figures.length === 0;
  return {
    colours: [...new Set(colours)].slice(0, 2),
    scene: firstMatch(sceneWords, text),
    hour: firstMatch(hourWords, text),
    weather: firstMatch(weatherWords, text),
    figures,
    person: personWords.test(lower) ? (isPortrait ? "portrait" : "standing") : undefined,
  };
};
