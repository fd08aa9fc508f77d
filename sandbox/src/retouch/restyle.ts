// A new look for an image if the prompt has no known keywords: two or three colours map its light and shade.

import { mix } from "../drawing/colour.ts";
import { choosePalette } from "../drawing/palette.ts";
import { createSeededRandom } from "../drawing/seeded-random.ts";
import type { Pixels } from "../vision/pixels.ts";

const bytesOf = (hex: string): readonly [number, number, number] => {
  const packed = Number.parseInt(hex.slice(1), 16);
  return [packed >> 16, (packed >> 8) & 255, packed & 255];
};

/** Dark pixels take the first colour, light ones the last; a share of the own colours stays. */
export const restyle = (pixels: Pixels, text: string): Pixels => {
  const random = createSeededRandom(`style ${text}`);
  const palette = choosePalette(random, { colours: [] });
  const ramp = [
    mix(palette.near, "#0b0e17", 0.3),
    mix(palette.sky[0], palette.far, 0.4),
    palette.accent,
    palette.light,
  ];
  const steps = Array.from({ length: 256 }, (_, level) => {
    const place = (level / 255) * (ramp.length - 1);
    return bytesOf(mix(ramp[Math.floor(place)]!, ramp[Math.ceil(place)]!, place % 1));
  });
  const { width, height, rgb } = pixels;
  const styled = Buffer.alloc(rgb.length);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const at = pixel * 3;
    const step = steps[Math.round(0.3 * rgb[at]! + 0.59 * rgb[at + 1]! + 0.11 * rgb[at + 2]!)]!;
    const across = ((pixel % width) / width) * 2 - 1;
    const down = (Math.floor(pixel / width) / height) * 2 - 1;
    const shade = 1 - 0.16 * (across ** 2 + down ** 2);
    for (let channel = 0; channel < 3; channel += 1) {
      styled[at + channel] = Math.round((rgb[at + channel]! * 0.3 + step[channel]! * 0.7) * shade);
    }
  }
  return { width, height, rgb: styled };
};
