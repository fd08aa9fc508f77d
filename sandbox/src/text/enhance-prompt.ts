// Makes a prompt richer: what it says stays, and words for style, light, composition and quality are added where it has
// none. The same seed adds the same words.
import { createSeededRandom, type SeededRandom } from "../drawing/seeded-random.ts";
import { chooseLanguage, type Phrase, type PhraseKind, phrases, styles } from "./enhance-phrases.ts";

export type EnhanceOptions = {
  prompt: string;
  seed: number;
  style: string | undefined;
  /** What the prompt is for: the name of a model. */
  modelType: string | undefined;
  language: string | undefined;
};

export type Enhancement = { enhanced_prompt: string; changes: { kind: PhraseKind; added: string }[] };

const kindsFor = (modelType = ""): PhraseKind[] => {
  if (/video|svd|kling|veo|runway|motion/.test(modelType)) return ["motion", "light", "composition"];
  // Models that edit follow plain orders best; adornment would be taken as further orders.
  if (/edit|kontext|nanobanana|gemini/.test(modelType)) return ["preserve", "light"];
  if (/wan|sd|qwen/.test(modelType)) return ["style", "light", "composition", "quality"];
  return ["style", "light", "composition"];
};

/** Whether the prompt already speaks of this: by a word of the phrase, or by one that is typical of its kind. */
const isThere = (prompt: string, { text, signs }: Phrase, kindSigns: RegExp): boolean => {
  const lower = prompt.toLowerCase();
  return kindSigns.test(lower) || lower.includes(text.toLowerCase()) || signs.some((sign) => lower.includes(sign));
};

const choose = (
  chance: SeededRandom,
  list: readonly Phrase[],
  prompt: string,
  kindSigns: RegExp,
): Phrase | undefined => {
  const free = list.filter((phrase) => !isThere(prompt, phrase, kindSigns));
  return free.length ? chance.pick(free) : undefined;
};

const requestedStyle = (style: string | undefined, tongue: ReturnType<typeof chooseLanguage>): string | undefined => {
  if (!style || /^(auto|none|default)$/i.test(style)) return undefined;
  return styles[tongue][style.toLowerCase()] ?? style.trim();
};

export const enhance = ({ prompt, seed, style, modelType, language }: EnhanceOptions): Enhancement => {
  const tongue = chooseLanguage(language);
  const random = createSeededRandom(`enhance ${prompt} ${seed}`);
  const output = prompt.trim().replace(/[\s,.;]+$/, "");
  const changes: Enhancement["changes"] = [];
  const add = (kind: PhraseKind, text: string): void => {
    if (!`${output} ${changes.map(({ added }) => added).join(" ")}`.toLowerCase().includes(text.toLowerCase())) {
      changes.push({ kind, added: text });
    }
  };
  const wish = requestedStyle(style, tongue);
  if (wish) add("style", wish);
  for (const kind of kindsFor(modelType?.toLowerCase())) {
    if (kind === "style" && wish) continue;
    const { signs, list } = phrases[tongue][kind];
    const phrase = choose(random.fork(kind), list, output, signs);
    if (phrase) add(kind, phrase.text);
  }
  return { enhanced_prompt: [output, ...changes.map(({ added }) => added)].filter(Boolean).join(", "), changes };
};
