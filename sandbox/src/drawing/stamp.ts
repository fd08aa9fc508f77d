// The stamp in the upper left corner: it says that the sandbox made the image and, after an edit, which one.
import type { Size } from "../size.ts";
import { round } from "./scene-context.ts";
import { drawText, toDrawableText, widthOf } from "./stroke-text.ts";

/** Below this many pixels letters are not legible, and the stamp is left out. */
const SMALLEST_SIDE = 96;
/** The panel of an edit has a fixed width, so that it covers the stamps of earlier edits. */
const EDIT_WIDTH = 0.62;

const shorten = (text: string, size: number, space: number): string => {
  if (widthOf(text, size) <= space) return text;
  let end = text.length;
  while (end > 0 && widthOf(`${text.slice(0, end)}...`, size) > space) end -= 1;
  return `${text.slice(0, end).trimEnd()}...`;
};

/** `edit` is the model and prompt of an edit. */
export const drawStamp = ({ width, height }: Size, edit?: { model: string; prompt: string }): string => {
  const unit = Math.min(width, height);
  if (unit < SMALLEST_SIDE) return "";
  const size = Math.max(6, unit * 0.0145);
  const margin = unit * 0.04;
  const padding = size * 0.9;
  const wide = edit ? width * EDIT_WIDTH : widthOf("SANDBOX", size) + 2 * padding;
  const words = edit ? `SANDBOX  ${edit.model}: ${edit.prompt}` : "SANDBOX";
  const text = shorten(toDrawableText(words), size, wide - 2 * padding);
  return [
    `<rect x="${round(margin)}" y="${round(margin)}" width="${round(wide)}" height="${round(size * 2.6)}" rx="${round(size * 0.7)}" fill="#0b0e17" fill-opacity="${edit ? 1 : 0.74}"/>`,
    `<g fill="none" stroke="#ffffff" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">${drawText(text, margin + padding, margin + size * 0.8, size)}</g>`,
  ].join("");
};
