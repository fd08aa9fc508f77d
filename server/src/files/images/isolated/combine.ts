// Draws several images onto one canvas, at the places of a layout that the server computed.
import type { ImageSize } from "../../formats/image-size.ts";
import type { PixelOutput, PixelTaskOf } from "../pixel-tasks.ts";
import { paint } from "./paint.ts";
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
