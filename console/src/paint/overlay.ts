// Draws a rectangle of the mask onto a canvas over the image: the colour of the mask, and a white line around what is
// marked.
import { clipRectangle, MARKED, type Mask, type PixelRectangle, wholeOf } from "./mask.ts";

export type OverlayLook = {
  /** Red, green and blue. */
  colour: readonly [number, number, number];
  /** From 0 to 1. */
  opacity: number;
  /** Width of the line in pixels of the image, so that it has about the same width at every zoom. */
  lineWidth: number;
};

export function drawOverlay(
  context: Pick<CanvasRenderingContext2D, "putImageData">,
  mask: Mask,
  { area = wholeOf(mask), look }: { area?: PixelRectangle; look: OverlayLook },
): void {
  // The line around a changed area can reach beyond it.
  const reach = look.lineWidth;
  const wider = {
    x: area.x - reach,
    y: area.y - reach,
    width: area.width + 2 * reach,
    height: area.height + 2 * reach,
  };
  const drawn = clipRectangle(mask, wider);
  if (!drawn) return;
  const image = new ImageData(drawn.width, drawn.height);
  const words = new Uint32Array(image.data.buffer);
  const shades = shadesOf(look);
  let target = 0;
  for (let row = drawn.y; row < drawn.y + drawn.height; row++) {
    for (let column = drawn.x; column < drawn.x + drawn.width; column++) {
      const value = mask.values[row * mask.width + column]!;
      const isLine = value < MARKED && touchesMarked(mask, column, row, look.lineWidth);
      words[target++] = isLine ? WHITE : shades[value]!;
    }
  }
  context.putImageData(image, drawn.x, drawn.y);
}

const WHITE = 0xffffffff;

/** The colour for each value of the mask, as canvas pixels. */
function shadesOf({ colour: [red, green, blue], opacity }: OverlayLook): Uint32Array {
  const shades = new Uint8ClampedArray(256 * 4);
  for (let value = 0; value < 256; value++) shades.set([red, green, blue, Math.round(value * opacity)], value * 4);
  return new Uint32Array(shades.buffer);
}

function touchesMarked({ width, height, values }: Mask, column: number, row: number, reach: number): boolean {
  for (let step = 1; step <= reach; step++) {
    if (column >= step && values[row * width + column - step]! >= MARKED) return true;
    if (column + step < width && values[row * width + column + step]! >= MARKED) return true;
    if (row >= step && values[(row - step) * width + column]! >= MARKED) return true;
    if (row + step < height && values[(row + step) * width + column]! >= MARKED) return true;
  }
  return false;
}
