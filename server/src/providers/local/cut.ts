// Extracts objects by masks, one layer per mask. Layers have the size of the image. Pixels outside the mask are
// transparent and have no color.
import { z } from "zod";
import { type LocalTask, type LocalTaskInputs, rejectInput } from "./local-task.ts";
import { readMaskFor } from "./mask-for-image.ts";
import { withPixelBudget } from "./pixel-budget.ts";
import {
  type Box,
  forEachBand,
  type ImageSize,
  type Pixels,
  readImageSize,
  readPixels,
  writeGrey,
  writePixels,
} from "./pixels.ts";

const Options = z.object({
  mode: z.enum(["extract", "content", "mask"]).default("extract"),
  invert: z.boolean().default(false),
  preserve_alpha: z.boolean().default(true),
});

/** Mask values below this are compression noise. */
const faint = 8;
/** Mask values from here on count as white in black-and-white masks. */
const half = 128;

export const cut: LocalTask = async ({ images: [image], masks, mask, options }) => {
  if (!image) throw rejectInput("images");
  const { mode, invert, preserve_alpha } = Options.parse(options);
  const size = await readImageSize(image);
  return withPixelBudget(size.width * size.height * (mode === "mask" ? 1 : 3), async () => {
    const source = mode === "mask" ? undefined : await readPixels(image);
    const outputs = [];
    // Sequential, so that many objects need no more memory than one.
    for (const each of wanted({ masks, mask })) {
      const marked = await readMaskFor(each, size);
      if (mode === "mask") await thresholdMask(marked, size);
      if (invert) await invertMaskValues(marked, size);
      const box = await boundingBox(marked, size);
      const layer = source && (await cutLayer(source, marked, preserve_alpha));
      const bytes = layer ? await writePixels(layer, "png") : await writeGrey(marked, size);
      outputs.push({ bytes, media_type: "image/png", ...(box && { box }) });
    }
    return outputs;
  });
};

const wanted = ({ masks, mask }: Pick<LocalTaskInputs, "masks" | "mask">): Uint8Array[] => {
  if (masks.length > 0) return masks;
  if (!mask) throw rejectInput("masks");
  return [mask];
};

/** Returned masks are black and white. The threshold comes before the inversion, so that both are exact complements. */
const thresholdMask = (marked: Uint8Array, size: ImageSize) =>
  forEachBand(size, (fromRow, toRow) => {
    for (let at = fromRow * size.width; at < toRow * size.width; at++) marked[at] = marked[at]! < half ? 0 : 255;
  });

const invertMaskValues = (marked: Uint8Array, size: ImageSize) =>
  forEachBand(size, (fromRow, toRow) => {
    for (let at = fromRow * size.width; at < toRow * size.width; at++) marked[at] = 255 - marked[at]!;
  });

/** Bounding box of the marked pixels. */
export async function boundingBox(marked: Uint8Array, size: ImageSize): Promise<Box | undefined> {
  let [left, top, right, bottom] = [size.width, size.height, -1, -1];
  await forEachBand(size, (fromRow, toRow) => {
    for (let row = fromRow; row < toRow; row++) {
      for (let column = 0, at = row * size.width; column < size.width; column++, at++) {
        if (marked[at]! < faint) continue;
        if (column < left) left = column;
        if (column > right) right = column;
        if (row < top) top = row;
        bottom = row;
      }
    }
  });
  return right < 0 ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** The masked part of an image. */
export async function cutLayer(source: Pixels, marked: Uint8Array, isAlphaKept: boolean): Promise<Pixels> {
  const { width, height, data } = source;
  const layer = new Uint8Array(data.length);
  await forEachBand(source, (fromRow, toRow) => {
    for (let pixel = fromRow * width; pixel < toRow * width; pixel++) {
      const share = marked[pixel]!;
      const at = pixel * 4;
      const alpha = isAlphaKept ? Math.round((data[at + 3]! * share) / 255) : share;
      if (alpha === 0) continue;
      layer[at] = data[at]!;
      layer[at + 1] = data[at + 1]!;
      layer[at + 2] = data[at + 2]!;
      layer[at + 3] = alpha;
    }
  });
  return { width, height, data: layer, isOpaque: false };
}
