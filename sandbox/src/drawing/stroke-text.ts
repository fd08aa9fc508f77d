// Sets text with the stroke alphabet: measures it, breaks it into lines and draws it as strokes.
import { glyphOf } from "./glyphs.ts";
import { round } from "./scene-context.ts";

const capHeight = 14;
const spacing = 3.1;

const plainForms: Record<string, string> = {
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": "-",
  "…": "...",
  "×": "x",
  ß: "ss",
  æ: "ae",
  ø: "o",
  ł: "l",
};

/** Accents are dropped, so that "café" is drawn as "cafe" and not with unknown glyphs. */
export const toDrawableText = (text: string): string =>
  text
    .replace(/[‘’“”–—…×ßæøł]/g, (mark) => plainForms[mark] ?? mark)
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/\s+/g, " ")
    .trim();

/** How wide `text` is when its capitals are `size` high. */
export const widthOf = (text: string, size: number): number => {
  const characters = [...text];
  const advance = characters.reduce((sum, character) => sum + glyphOf(character)[0] + spacing, 0);
  return (Math.max(0, advance - spacing) * size) / capHeight;
};

/** As many characters of `text` as fit into the width, at least one. */
const fit = (text: string, size: number, space: number): string => {
  // The tolerance absorbs rounding errors, so that a line which just fits is not broken.
  const most = (space * capHeight) / size + spacing + 0.001;
  let advance = 0;
  let length = 0;
  for (const character of text) {
    advance += glyphOf(character)[0] + spacing;
    if (advance > most && length > 0) break;
    length += character.length;
  }
  return text.slice(0, length);
};

/** Breaks `text` into at most `most` lines of this width; the rest becomes an ellipsis. */
export const wrap = (text: string, size: number, space: number, most: number): string[] => {
  const lines: string[] = [];
  let rest = text;
  while (rest && lines.length < most) {
    const whole = fit(rest, size, space);
    if (whole.length === rest.length) return [...lines, rest];
    const gap = rest[whole.length] === " " ? whole.length : whole.lastIndexOf(" ");
    const line = gap > 0 ? whole.slice(0, gap) : whole;
    lines.push(line);
    rest = rest.slice(line.length).trimStart();
  }
  const last = lines.pop();
  if (last === undefined) return [];
  return [...lines, rest ? `${fit(last, size, space - widthOf(" ...", size)).trimEnd()}...` : last];
};

/** Draws `text` with the top of its capitals at `y`. */
export const drawText = (text: string, x: number, y: number, size: number): string => {
  const scale = size / capHeight;
  let pen = 0;
  const strokes = [...text].map((character) => {
    const [width, path] = glyphOf(character);
    const stroke = path ? `<path transform="translate(${round(pen)} 0)" d="${path}"/>` : "";
    pen += width + spacing;
    return stroke;
  });
  return `<g transform="translate(${round(x)} ${round(y)}) scale(${scale.toFixed(4)})">${strokes.join("")}</g>`;
};
