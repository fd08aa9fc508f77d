// Draws what a prompt adds to an image: figures, celestial bodies, a person, text.

import { mix } from "../drawing/colour.ts";
import { figureAt, isInSky, naturalColour } from "../drawing/figures.ts";
import { drawPerson, traitsFrom } from "../drawing/person.ts";
import { glow, round } from "../drawing/scene-context.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import { drawText, toDrawableText, widthOf, wrap } from "../drawing/stroke-text.ts";
import type { Size } from "../size.ts";
import type { Box } from "../tasks/task.ts";
import type { Addition } from "./edit-plan.ts";

/** Where additions may go: the whole image, or the masked area. */
type Room = { image: Size; box: Box; isMarked: boolean; prompt: string; seed: number };

const disc = (x: number, y: number, radius: number, what: "sun" | "moon", colour?: string): string => {
  const fill = colour ?? (what === "sun" ? "#ffd75e" : "#f4f1de");
  const crater = mix(fill, "#7a7f92", 0.25);
  const craters = [
    [-0.3, -0.2, 0.22],
    [0.35, 0.3, 0.16],
    [0.2, -0.5, 0.1],
  ].map(
    ([across, down, size]) =>
      `<circle cx="${round(x + across! * radius)}" cy="${round(y + down! * radius)}" r="${round(size! * radius)}" fill="${crater}" opacity=".7"/>`,
  );
  return [
    `<defs>${glow(`glow-${what}`, fill, what === "sun" ? 0.75 : 0.45)}</defs>`,
    `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius * 3.4)}" fill="url(#glow-${what})"/>`,
    `<circle cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${fill}"/>`,
    what === "moon" ? craters.join("") : "",
  ].join("");
};

const starsIn = ({ x, y, width, height }: Box, seed: number): string => {
  const random = createSeededRandom(`stars ${seed}`);
  const unit = Math.min(width, height);
  const list = Array.from({ length: 120 }, () => {
    const size = unit * (0.0014 + random.next() ** 5 * 0.008);
    const across = x + random.next() * width;
    const down = y + random.next() ** 1.3 * height * 0.5;
    const opacity = random.between(0.5, 1).toFixed(2);
    const ray = size * 3.2;
    const waist = size * 0.6;
    return `<path transform="translate(${round(across)} ${round(down)})" opacity="${opacity}" d="M0 ${round(-ray)}Q${round(waist)} ${round(-waist)} ${round(ray)} 0Q${round(waist)} ${round(waist)} 0 ${round(ray)}Q${round(-waist)} ${round(waist)} ${round(-ray)} 0Q${round(-waist)} ${round(-waist)} 0 ${round(-ray)}Z"/>`;
  });
  return `<g fill="#fffbe6">${list.join("")}</g>`;
};

/** The centre of an addition as shares of the area: where the prompt says, or where such a thing belongs. */
const placeOf = ({ what }: Addition, { prompt, isMarked, seed }: Room, index: number) => {
  const says = (word: RegExp): boolean => word.test(prompt.toLowerCase());
  const isHigh = what === "sun" || what === "moon" || (what !== "person" && what !== "stars" && isInSky(what));
  if (isMarked) return { x: 0.5, y: 0.5 };
  const random = createSeededRandom(`${seed} ${what}`);
  let x = (isHigh ? 0.74 : 0.34) + random.between(-0.08, 0.08) + (index % 2 ? -0.3 : 0.02) * (isHigh ? 1 : -1);
  if (says(/\bleft\b/)) x = 0.22;
  if (says(/\bright\b/)) x = 0.78;
  if (says(/\b(?:middle|centre|center)\b/)) x = 0.5;
  let y = isHigh ? 0.22 : 0.7;
  if (says(/\b(?:top|upper)\b/)) y = 0.22;
  if (says(/\b(?:bottom|lower)\b/)) y = 0.78;
  return { x, y };
};

const draw = (addition: Addition, space: Room, index: number): string => {
  const { what, colour } = addition;
  const { box } = space;
  if (what === "stars") return starsIn(box, space.seed);
  const unit = Math.min(box.width, box.height);
  const place = placeOf(addition, space, index);
  const x = box.x + place.x * box.width;
  const y = box.y + place.y * box.height;
  if (what === "sun" || what === "moon") return disc(x, y, unit * (space.isMarked ? 0.3 : 0.085), what, colour);
  const size =
    unit * (space.isMarked ? 0.84 : what === "person" || what === "lighthouse" || what === "tree" ? 0.42 : 0.3);
  if (what === "person") {
    const traits = traitsFrom(colour ? [colour] : [], createSeededRandom(`person ${space.seed}`));
    return drawPerson(traits, { x, foot: y + size / 2, height: size });
  }
  const accent = colour ?? naturalColour(what) ?? (what === "cat" ? "#22242c" : "#e5604d");
  return figureAt(what, x - size / 2, y - size / 2, size, { ink: "#2a2d38", accent, light: "#fff4df" });
};

const content = (text: string, { box }: Room): string => {
  const line = toDrawableText(text);
  const size = Math.min(box.height * 0.14, (box.height * 0.09 * 18) / Math.max(6, Math.min(18, line.length)));
  const lines = wrap(line, size, box.width * 0.84, 3);
  const top = box.y + box.height / 2 - ((lines.length - 0.4) * size * 1.7) / 2;
  const drawn = lines.map((part, index) =>
    drawText(part, box.x + (box.width - widthOf(part, size)) / 2, top + index * size * 1.7, size),
  );
  const stroke = (colour: string, weight: number) =>
    `<g fill="none" stroke="${colour}" stroke-width="${weight}" stroke-linecap="round" stroke-linejoin="round">${drawn.join("")}</g>`;
  // A dark outline around white letters is legible on any background.
  return stroke("#0b0e17", 5) + stroke("#ffffff", 2.4);
};

export const drawAdditions = (additions: readonly Addition[], text: string | undefined, space: Room): string =>
  additions.map((addition, index) => draw(addition, space, index)).join("") + (text ? content(text, space) : "");
