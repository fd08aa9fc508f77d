// The caption of an image: the prompt on a translucent panel, and a small line with its origin.

import { round } from "./scene-context.ts";
import { drawText, toDrawableText, widthOf, wrap } from "./stroke-text.ts";

export type CaptionWords = { prompt: string; origin: string };

/** Below this many pixels letters are not legible, and the caption is left out. */
const smallest = 96;

const ink = (colour: string, weight: number, content: string): string =>
  `<g fill="none" stroke="${colour}" stroke-width="${weight}" stroke-linecap="round" stroke-linejoin="round">${content}</g>`;

export const caption = (width: number, height: number, text: CaptionWords): string => {
  const unit = Math.min(width, height);
  if (unit < smallest) return "";
  const size = Math.max(unit * 0.0225, 6.5);
  const smallSize = size * 0.56;
  const leading = size * 2;
  const margin = unit * 0.04;
  const padding = size * 1.1;
  const space = Math.min(width - 2 * (margin + padding), size * 46);
  const hasOrigin = smallSize >= 4.5;
  const mostLines = Math.max(1, Math.min(4, Math.floor((height * 0.42 - 2 * padding) / leading)));
  const lines = wrap(toDrawableText(text.prompt), size, space, mostLines);
  const [origin] = hasOrigin ? wrap(toDrawableText(text.origin), smallSize, space, 1) : [];
  if (lines.length === 0 && !origin) return "";

  const textHeight = Math.max(0, lines.length - 1) * leading + (lines.length ? size : 0);
  const originGap = origin && lines.length ? size * 1.15 : 0;
  const tall = textHeight + originGap + (origin ? smallSize : 0) + 2 * padding;
  const widest = Math.max(...lines.map((line) => widthOf(line, size)), origin ? widthOf(origin, smallSize) : 0);
  const top = height - margin - tall;
  const left = margin + padding;
  const drawn = lines.map((line, index) => drawText(line, left, top + padding + index * leading, size)).join("");
  const small = origin ? drawText(origin, left, top + padding + textHeight + originGap, smallSize) : "";
  return [
    `<rect x="${round(margin)}" y="${round(top)}" width="${round(widest + 2 * padding)}" height="${round(tall)}" rx="${round(size * 0.8)}" fill="#0b0e17" fill-opacity=".74"/>`,
    ink("#ffffff", 1.55, drawn),
    ink("#d8dbe6", 1.5, small),
  ].join("");
};
