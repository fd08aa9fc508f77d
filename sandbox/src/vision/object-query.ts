// Reads what is to be found in an image: colours, a place, a size, a shape.
import { type ColourName, colourNamesIn } from "./colour-names.ts";

export type Shape = "circle" | "square" | "rectangle" | "triangle";
export type Across = "left" | "middle" | "right";
export type Down = "top" | "middle" | "bottom";

export type ObjectQuery = {
  colours: ColourName[];
  across?: Across | undefined;
  down?: Down | undefined;
  size?: "largest" | "smallest" | undefined;
  shape?: Shape | undefined;
  /** Things that are known by where they are and not by what they look like. */
  kind?: "background" | "sky" | "ground" | "light" | undefined;
  name: string;
};

const across: Record<Across, string> = {
  left: "left leftmost",
  middle: "centre center middle central",
  right: "right rightmost",
};
const down: Record<Down, string> = {
  top: "top upper topmost above",
  middle: "centre center middle central",
  bottom: "bottom lower below lowest",
};
const sizes = {
  largest: "largest biggest big large main huge bigger larger",
  smallest: "smallest tiny small little smaller",
} as const;
const shapes: Record<Shape, string> = {
  circle: "circle disc disk ball dot round sphere oval ellipse ring",
  square: "square box cube",
  rectangle: "rectangle bar panel card banner caption",
  triangle: "triangle pyramid",
};
const kinds = {
  background: "background backdrop surroundings",
  sky: "sky heaven heavens clouds",
  ground: "ground floor grass land road water sea ocean lake meadow field sand soil table",
  light: "sun moon lamp",
} as const;
const fillers = new Set("the a an on in at of to from side its it is and with all every both please part".split(" "));

const find = <Name extends string>(table: Record<Name, string>, text: readonly string[]): Name | undefined =>
  (Object.keys(table) as Name[]).find((name) => table[name].split(" ").some((known) => text.includes(known)));

const placeWords = new Set([...Object.values(across), ...Object.values(down)].join(" ").split(" "));

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

const singular = (word: string): string => (word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word);

/** "The boat on the water" asks for a boat: what follows such a word only says where. */
const turns = /\b(?:on|in|at|by|near|over|under|behind|beside|above|below|with|next|from|before)\b/;
const clothed = /\b(?:in|of|with) (?:bright |dark |light )?(\w+)/;

export const parseObjectQuery = (prompt: string): ObjectQuery => {
  const lower = prompt.toLowerCase();
  const forms = (text: string): string[] => [...new Set(wordsOf(text).flatMap((word) => [word, singular(word)]))];
  const head = lower.split(turns)[0]?.trim() || lower;
  const content = forms(lower);
  const thing = forms(head);
  const stored = wordsOf(head).filter((word) => !fillers.has(word) && !placeWords.has(word));
  const colours = colourNamesIn(thing);
  return {
    colours: colours.length ? colours : colourNamesIn(clothed.exec(lower)?.slice(1) ?? []),
    across: find(across, content),
    down: find(down, content),
    size: find(sizes, content),
    shape: find(shapes, thing),
    kind: find(kinds, thing),
    name: stored.join(" ").slice(0, 80) || prompt.trim().slice(0, 80) || "object",
  };
};
