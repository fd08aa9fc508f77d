// Parses an edit prompt clause by clause.

import type { Figure } from "../drawing/figures.ts";
import type { Precipitation } from "../drawing/precipitation.ts";
import { colourWords, parseScenePrompt } from "../drawing/scene-prompt.ts";
import type { SceneName } from "../drawing/scenes.ts";
import { type ToneName, tonesInPrompt } from "./tones.ts";

export type Addition = { what: Figure | "sun" | "moon" | "stars" | "person"; colour?: string | undefined };

export type EditPlan = {
  /** What to remove, in the prompt's own words. */
  removal?: string | undefined;
  recolour?: { target: string; colour: string } | undefined;
  /** Another background, or another look of the existing one. */
  background?: "new" | "toned" | undefined;
  additions: Addition[];
  text?: string | undefined;
  tones: ToneName[];
  colours: string[];
  weather?: Precipitation | undefined;
  scene?: SceneName | undefined;
  /** Whether further images lend their colours instead of being inserted. */
  isStyle: boolean;
};

const colourList = Object.keys(colourWords).join("|");
const removing =
  /\b(?:remove|erase|delete|take (?:out|away)|get rid of)\s+([^,.;]+?)(?=\s+and\s+(?:add|make|turn|put|change)\b|[,.;]|$)/;
const recolouring = new RegExp(
  `\\b(?:make|turn|paint|colou?r|change|recolou?r|dye)\\s+(?:the\\s+)?([^,.;]+?)\\s+(?:(?:in)?to\\s+|in\\s+)?(?:be\\s+)?(?:bright\\s+|dark\\s+|light\\s+)?(${colourList})\\b(?!\\s+and\\s+white)`,
);
const everything = /^(?:it|this|that|all|everything|(?:whole )?(?:picture|image|photo|scene))$/;
const quoted = /["“”«]([^"“”»]{1,80})["“”»]/;
const heavenly = {
  sun: /\bsun\b/,
  moon: /\bmoon\b/,
  stars: /\bstars\b/,
  person: /\b(?:person|man|woman|girl|boy|child|human|figure)\b/,
};

const colourBefore = (text: string, noun: RegExp): string | undefined => {
  const found = new RegExp(`\\b(${colourList})\\s+(?:\\w+\\s+)?(?:${noun.source})`).exec(text)?.[1];
  return found ? colourWords[found] : undefined;
};

/** "A person in a blue coat" wears the colour. */
const colourWorn = (text: string): string | undefined => {
  const found = new RegExp(
    `(?:${heavenly.person.source})\\s+(?:in|with|wearing)\\s+(?:an?\\s+)?(${colourList})\\b`,
  ).exec(text)?.[1];
  return found ? colourWords[found] : undefined;
};

const additionsIn = (text: string): Addition[] => {
  const named = Object.entries(heavenly).filter(([, noun]) => noun.test(text));
  const known = named.map(([what, noun]) => ({
    what: what as Addition["what"],
    colour: colourBefore(text, noun) ?? (what === "person" ? colourWorn(text) : undefined),
  }));
  const figures = parseScenePrompt(text).figures.map((what) => {
    const noun = new RegExp(what === "birds" ? "birds?" : `${what}s?`);
    return { what, colour: colourBefore(text, noun) };
  });
  return [...known, ...figures].slice(0, 5);
};

export const parseEditPrompt = (prompt: string): EditPlan => {
  const text = quoted.exec(prompt)?.[1];
  let left = prompt.toLowerCase().replace(quoted, " ");
  const removal = removing.exec(left)?.[1];
  left = left.replace(removing, " ");
  const [clause, target = "", colour = ""] = recolouring.exec(left) ?? [];
  const isWhole = everything.test(target.trim());
  if (clause && !isWhole) left = left.replace(clause, " ");
  const tones = tonesInPrompt(left);
  const additions = additionsIn(left);
  const { colours, weather, scene } = parseScenePrompt(left);
  const taken = new Set(additions.map((addition) => addition.colour));
  const isNew = scene !== undefined || (tones.length === 0 && colours.length > 0);
  return {
    removal,
    recolour: clause && !isWhole ? { target, colour: colourWords[colour] as string } : undefined,
    background: /\bback(?:ground|drop)\b/.test(left) ? (isNew ? "new" : "toned") : undefined,
    additions,
    text: text ?? undefined,
    tones,
    // "Black and white" is a tone and names no colours.
    colours: tones.includes("grey") ? [] : colours.filter((one) => !taken.has(one)),
    weather,
    scene,
    isStyle: /\b(?:style|colou?rs?|palette|look|mood|tones?) (?:of|from|like)\b|\bin the style\b/.test(left),
  };
};

/** True if the plan changes nothing. */
export const isEmptyPlan = (plan: EditPlan): boolean =>
  !plan.removal &&
  !plan.recolour &&
  !plan.background &&
  !plan.text &&
  !plan.weather &&
  plan.additions.length + plan.tones.length + plan.colours.length === 0;
