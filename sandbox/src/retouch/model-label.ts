// The small label in the corner of an edited image with the name of the model.

import { round } from "../drawing/scene-context.ts";
import { drawText, toDrawableText, widthOf } from "../drawing/stroke-text.ts";
import type { Size } from "../size.ts";

export const drawModelLabel = ({ width, height }: Size, content: string): string => {
  const unit = Math.min(width, height);
  const size = Math.max(6, unit * 0.0115);
  const text = toDrawableText(content).slice(0, 60);
  const wide = widthOf(text, size) + size * 1.6;
  if (unit < 160 || wide > width * 0.6) return "";
  const left = width - wide - unit * 0.014;
  const top = height - size * 2.3 - unit * 0.014;
  return [
    `<rect x="${round(left)}" y="${round(top)}" width="${round(wide)}" height="${round(size * 2.3)}" rx="${round(size * 0.7)}" fill="#0b0e17" fill-opacity=".5"/>`,
    `<g fill="none" stroke="#ffffff" stroke-opacity=".85" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">${drawText(text, left + size * 0.8, top + size * 0.62, size)}</g>`,
  ].join("");
};
