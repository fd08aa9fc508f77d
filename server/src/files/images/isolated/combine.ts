// Draws several images onto one canvas, at the places of a layout that the server computed.
import type { ImageSize } from "../../formats/image-size.ts";
import type { PixelOutput, PixelTaskOf } from "../pixel-tasks.ts";
import { type Pixels, readPixels, writePixels } from "./pixels.ts";

export async function drawCombination(images: Uint8Array[], task: PixelTaskOf<"combine">): Promise<PixelOutput[]> {
  const { layout, isOverlay, opacity, background, output_format } = task;
  const canvas = blank(layout, colourOf(background, output_format));
  let covered = 0;
  // Sequential, so that only one source is decoded at a time.
  for (const [index, place] of layout.places.entries()) {
    const image = await readPixels(images[index]!, place);
    paint(canvas, image, { ...place, opacity: isOverlay && index > 0 ? opacity : 1 });
    // In an overlay, only the bottom image decides about opacity.
    if (image.isOpaque && (!isOverlay || index === 0)) covered += place.width * place.height;
  }
  const isOpaque = canvas.isOpaque || covered === layout.width * layout.height;
  return [{ bytes: await writePixels({ ...canvas, isOpaque }, output_format) }];
}

type Colour = [red: number, green: number, blue: number, alpha: number];
const TRANSPARENT: Colour = [0, 0, 0, 0];
const WHITE: Colour = [255, 255, 255, 255];

/** A JPEG has no alpha channel. */
const colourOf = (background: string | undefined, format: string): Colour => {
  if (!background || background === "transparent") return format === "jpeg" ? WHITE : TRANSPARENT;
  const value = Number.parseInt(background.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255, 255];
};

const blank = ({ width, height }: ImageSize, colour: Colour): Pixels => ({
  width,
  height,
  data: colour[3] === 0 ? Buffer.alloc(width * height * 4) : Buffer.alloc(width * height * 4, Buffer.from(colour)),
  isOpaque: colour[3] === 255,
});

type PaintPlacement = { left: number; top: number; opacity: number };

/** Draws one image onto another. Opaque pixels are copied. */
function paint(canvas: Pixels, image: Pixels, { left, top, opacity }: PaintPlacement): void {
  const isCopy = image.isOpaque && opacity === 1;
  for (let row = 0; row < image.height; row++) {
    const from = row * image.width * 4;
    const to = ((top + row) * canvas.width + left) * 4;
    const source = image.data.subarray(from, from + image.width * 4);
    if (isCopy) canvas.data.set(source, to);
    else paintRow(canvas.data.subarray(to, to + source.length), source, opacity);
  }
}

function paintRow(below: Uint8Array, above: Uint8Array, opacity: number): void {
  for (let at = 0; at < above.length; at += 4) {
    const share = (above[at + 3]! / 255) * opacity;
    if (share === 0) continue;
    const rest = (below[at + 3]! / 255) * (1 - share);
    const alpha = share + rest;
    for (let channel = at; channel < at + 3; channel++) {
      below[channel] =
        rest === 0 ? above[channel]! : Math.round((above[channel]! * share + below[channel]! * rest) / alpha);
    }
    below[at + 3] = Math.round(alpha * 255);
  }
}
