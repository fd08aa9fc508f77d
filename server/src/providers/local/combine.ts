// Combines several images into one: side by side, stacked, in a grid, or as an overlay.
import { z } from "zod";
import { computeLayout } from "./combine-layout.ts";
import { type LocalTask, rejectInput } from "./local-task.ts";
import { paint } from "./paint.ts";
import { withPixelBudget } from "./pixel-budget.ts";
import { type ImageSize, MIN_IMAGE_SIDE, type Pixels, readImageSize, readPixels, writePixels } from "./pixels.ts";

const Options = z.object({
  mode: z.enum(["side-by-side", "stacked", "grid", "overlay"]).default("side-by-side"),
  gap: z.number().int().min(0).max(512).default(0),
  background: z
    .string()
    .regex(/^(transparent|#[0-9a-fA-F]{6})$/)
    .optional(),
  opacity: z.number().min(0).max(1).default(1),
  output_format: z.enum(["png", "jpeg", "webp"]).default("png"),
});

export const combine: LocalTask = async ({ images, options }) => {
  if (images.length < 2 || images.length > 10) throw rejectInput("images");
  const { mode, gap, background, opacity, output_format } = Options.parse(options);
  const sizes = await Promise.all(images.map(readImageSize));
  const layout = computeLayout(mode, sizes, gap);
  if (Math.min(layout.width, layout.height) < MIN_IMAGE_SIDE) throw rejectInput("too_thin");

  const largest = Math.max(...layout.places.map(({ width, height }) => width * height));
  return withPixelBudget(layout.width * layout.height + largest, async () => {
    const canvas = blank(layout, colourOf(background, output_format));
    let covered = 0;
    // Sequential, so that only one source is decoded at a time.
    for (const [index, place] of layout.places.entries()) {
      const image = await readPixels(images[index]!, place);
      await paint(canvas, image, { ...place, opacity: mode === "overlay" && index > 0 ? opacity : 1 });
      // In an overlay, only the bottom image decides about opacity.
      if (image.isOpaque && (mode !== "overlay" || index === 0)) covered += place.width * place.height;
    }
    const isOpaque = canvas.isOpaque || covered === layout.width * layout.height;
    const bytes = await writePixels({ ...canvas, isOpaque }, output_format);
    return [{ bytes, media_type: `image/${output_format}` }];
  });
};

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
