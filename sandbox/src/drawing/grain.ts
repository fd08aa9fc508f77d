// A layer of faint grain, laid over the image as a repeated tile: it hides the steps in broad gradients.
import type { OverlayOptions } from "sharp";
import { createSeededRandom } from "./seeded-random.ts";

const side = 128;

const tile = (): Buffer => {
  const random = createSeededRandom("grain");
  const pixels = Buffer.alloc(side * side * 4);
  for (let pixel = 0; pixel < side * side; pixel += 1) {
    const shade = random.next() < 0.5 ? 0 : 255;
    pixels.fill(shade, pixel * 4, pixel * 4 + 3);
    pixels[pixel * 4 + 3] = random.next() < 0.3 ? random.whole(3, 7) : 0;
  }
  return pixels;
};

const grainOverlay: OverlayOptions = { input: tile(), raw: { width: side, height: side, channels: 4 }, tile: true };

/** Images smaller than the tile have no broad gradients, and an overlay may not be larger than what it covers. */
export const grainFor = (width: number, height: number): OverlayOptions[] =>
  Math.min(width, height) < side ? [] : [grainOverlay];
