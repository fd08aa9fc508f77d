// Blends edited images with their original through a mask. Where the mask is black, the original pixels stay unchanged;
// where it is grey, both are mixed in proportion.
import type { PixelOutput } from "../pixel-tasks.ts";
import { type Pixels, readGrey, readPixels, writePixels } from "./pixels.ts";

/** The first image is the original. Each further image is blended with it separately and gives one result. */
export async function blendImages(
  [original, ...edited]: Uint8Array[],
  [mask]: Uint8Array[],
  size: { width: number; height: number },
): Promise<PixelOutput[]> {
  const marked = await readGrey(mask!, size);
  const outputs: PixelOutput[] = [];
  // Sequential, so that many results need no more memory than one.
  for (const each of edited) {
    const [below, above] = [await readPixels(original!), await readPixels(each, size)];
    blendPixels(below, above, marked);
    const bytes = await writePixels({ ...below, isOpaque: below.isOpaque && above.isOpaque }, "png");
    outputs.push({ bytes });
  }
  return outputs;
}

/** Changes the lower image in place. */
export function blendPixels(below: Pixels, above: Pixels, mask: Uint8Array): void {
  for (let pixel = 0; pixel < below.width * below.height; pixel++) {
    const share = mask[pixel]!;
    if (share > 0) mixPixel(below.data, above.data, { at: pixel * 4, share: share / 255 });
  }
}

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
