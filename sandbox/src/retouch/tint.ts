// Gives pixels another hue and keeps their light and shade.
import { hexOf, labOf } from "../drawing/colour.ts";
import type { Lab } from "../vision/lab.ts";
import type { Pixels } from "../vision/pixels.ts";

/** All steps of lightness of one hue; the tint of a pixel is looked up by how light it is. */
const ramp = ([lightness, a, b]: Lab): Uint8Array => {
  const steps = new Uint8Array(256 * 3);
  for (let step = 0; step < 256; step += 1) {
    const level = step / 255;
    // Very dark and very light pixels have little colour, as in nature.
    const hold = Math.min(1, level * 2.2, (1 - level) * 3.2);
    // The lightness moves towards that of the colour: a white object that becomes red must become darker.
    const hex = hexOf([level + (lightness - level) * 0.35, a * hold, b * hold]);
    const packed = Number.parseInt(hex.slice(1), 16);
    steps.set([packed >> 16, (packed >> 8) & 255, packed & 255], step * 3);
  }
  return steps;
};

export const tintPixels = (pixels: Pixels, colour: string, share: number): Pixels => {
  const steps = ramp(labOf(colour));
  const { width, height, rgb } = pixels;
  const tinted = Buffer.alloc(rgb.length);
  for (let at = 0; at < rgb.length; at += 3) {
    const level = Math.round(0.3 * rgb[at]! + 0.59 * rgb[at + 1]! + 0.11 * rgb[at + 2]!) * 3;
    for (let channel = 0; channel < 3; channel += 1) {
      tinted[at + channel] = Math.round(rgb[at + channel]! * (1 - share) + steps[level + channel]! * share);
    }
  }
  return { width, height, rgb: tinted };
};

/** Moves the colours of an image to the mean and the spread of those of another. */
export const matchColours = (pixels: Pixels, other: Pixels): Pixels => {
  const measure = (rgb: Buffer, channel: number) => {
    const count = rgb.length / 3;
    let sum = 0;
    let squares = 0;
    for (let at = channel; at < rgb.length; at += 3) {
      sum += rgb[at]!;
      squares += rgb[at]! ** 2;
    }
    return { mean: sum / count, spread: Math.sqrt(Math.max(1, squares / count - (sum / count) ** 2)) };
  };
  const rgb = Buffer.alloc(pixels.rgb.length);
  for (let channel = 0; channel < 3; channel += 1) {
    const own = measure(pixels.rgb, channel);
    const theirs = measure(other.rgb, channel);
    const gain = Math.min(2.2, Math.max(0.45, theirs.spread / own.spread));
    for (let at = channel; at < rgb.length; at += 3) {
      rgb[at] = Math.min(255, Math.max(0, Math.round((pixels.rgb[at]! - own.mean) * gain + theirs.mean)));
    }
  }
  return { width: pixels.width, height: pixels.height, rgb };
};
