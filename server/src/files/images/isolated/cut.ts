// Extracts objects by masks, one layer per mask. Layers have the size of the image. Pixels outside the mask are
// transparent and have no color.
import type { ImageSize } from "../../formats/image-size.ts";
import type { PixelOutput, PixelTaskOf } from "../pixel-tasks.ts";
import { type Box, type Pixels, readGrey, readPixels, writeGrey, writePixels } from "./pixels.ts";

/** Mask values below this are compression noise. */
const faint = 8;
/** Mask values from here on count as white in black-and-white masks. */
const half = 128;

export async function cutImage(
  [image]: Uint8Array[],
  masks: Uint8Array[],
  task: PixelTaskOf<"cut">,
): Promise<PixelOutput[]> {
  const { size, isMaskOnly, isInverted, isAlphaKept } = task;
  const source = isMaskOnly ? undefined : await readPixels(image!);
  const outputs: PixelOutput[] = [];
  // Sequential, so that many objects need no more memory than one.
  for (const each of masks) {
    const marked = await readGrey(each, size);
    if (isMaskOnly) thresholdMask(marked);
    if (isInverted) invertMaskValues(marked);
    const box = boundingBox(marked, size);
    const layer = source && cutLayer(source, marked, isAlphaKept);
    const bytes = layer ? await writePixels(layer, "png") : await writeGrey(marked, size);
    outputs.push({ bytes, ...(box && { box }) });
  }
  return outputs;
}

/** The mask as gray values. Without a box, the provider marked nothing. */
export async function readFoundMask(mask: Uint8Array, size: ImageSize): Promise<PixelOutput> {
  const marked = await readGrey(mask, size);
  const box = boundingBox(marked, size);
  return { bytes: await writeGrey(marked, size), ...(box && { box }) };
}

/** Returned masks are black and white. The threshold comes before the inversion, so that both are exact complements. */
function thresholdMask(marked: Uint8Array): void {
  for (let at = 0; at < marked.length; at++) marked[at] = marked[at]! < half ? 0 : 255;
}

function invertMaskValues(marked: Uint8Array): void {
  for (let at = 0; at < marked.length; at++) marked[at] = 255 - marked[at]!;
}

/** Bounding box of the marked pixels. */
export function boundingBox(marked: Uint8Array, size: ImageSize): Box | undefined {
  let [left, top, right, bottom] = [size.width, size.height, -1, -1];
  for (let row = 0; row < size.height; row++) {
    for (let column = 0, at = row * size.width; column < size.width; column++, at++) {
      if (marked[at]! < faint) continue;
      if (column < left) left = column;
      if (column > right) right = column;
      if (row < top) top = row;
      bottom = row;
    }
  }
  return right < 0 ? undefined : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** The masked part of an image. */
export function cutLayer(source: Pixels, marked: Uint8Array, isAlphaKept: boolean): Pixels {
  const { width, height, data } = source;
  const layer = new Uint8Array(data.length);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const share = marked[pixel]!;
    const at = pixel * 4;
    const alpha = isAlphaKept ? Math.round((data[at + 3]! * share) / 255) : share;
    if (alpha === 0) continue;
    layer[at] = data[at]!;
    layer[at + 1] = data[at + 1]!;
    layer[at + 2] = data[at + 2]!;
    layer[at + 3] = alpha;
  }
  return { width, height, data: layer, isOpaque: false };
}
