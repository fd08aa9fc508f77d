// Blends edited images with their original through a mask. Where the mask is black, the original pixels stay unchanged;
// where it is grey, both are mixed in proportion.

import { type LocalTask, rejectInput } from "./local-task.ts";
import { readMaskFor } from "./mask-for-image.ts";
import { withPixelBudget } from "./pixel-budget.ts";
import { forEachBand, type Pixels, readImageSize, readPixels, writePixels } from "./pixels.ts";

/** The first image is the original. Each further image is blended with it separately and gives one result. */
export const blend: LocalTask = async ({ images: [original, ...edited], mask }) => {
  if (!original || edited.length === 0) throw rejectInput("images");
  if (!mask) throw rejectInput("mask");
  const size = await readImageSize(original);
  return withPixelBudget(size.width * size.height * 3, async () => {
    const marked = await readMaskFor(mask, size);
    const outputs = [];
    // Sequential, so that many results need no more memory than one.
    for (const each of edited) {
      const [below, above] = [await readPixels(original), await readPixels(each, size)];
      await blendPixels(below, above, marked);
      const bytes = await writePixels({ ...below, isOpaque: below.isOpaque && above.isOpaque }, "png");
      outputs.push({ bytes, media_type: "image/png" });
    }
    return outputs;
  });
};

/** Changes the lower image in place. */
export const blendPixels = (below: Pixels, above: Pixels, mask: Uint8Array): Promise<void> =>
  forEachBand(below, (fromRow, toRow) => {
    for (let pixel = fromRow * below.width; pixel < toRow * below.width; pixel++) {
      const share = mask[pixel]!;
      if (share > 0) mixPixel(below.data, above.data, { at: pixel * 4, share: share / 255 });
    }
  });

/** Colors are weighted by alpha, so that hidden colors of transparent pixels do not bleed into edges. */
function mixPixel(below: Uint8Array, above: Uint8Array, { at, share }: { at: number; share: number }): void {
  const taken = above[at + 3]! * share;
  const left = below[at + 3]! * (1 - share);
  const alpha = taken + left;
  for (let channel = at; channel < at + 3; channel++) {
    if (left === 0 || alpha === 0) below[channel] = above[channel]!;
    else below[channel] = Math.round((above[channel]! * taken + below[channel]! * left) / alpha);
  }
  below[at + 3] = Math.round(alpha);
}
