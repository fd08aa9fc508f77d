// Colours of pixels in OKLab, where equal distances look equally different.
import type { Pixels } from "./pixels.ts";

export type Lab = readonly [lightness: number, a: number, b: number];

const linear = Float64Array.from({ length: 256 }, (_, byte) => {
  const channel = byte / 255;
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
});

export const labOfBytes = (redByte: number, greenByte: number, blueByte: number): Lab => {
  const red = linear[redByte]!;
  const green = linear[greenByte]!;
  const blue = linear[blueByte]!;
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ];
};

/** Three numbers a pixel. */
export const labsOf = ({ width, height, rgb }: Pixels): Float32Array => {
  const labs = new Float32Array(width * height * 3);
  for (let at = 0; at < labs.length; at += 3) {
    const lab = labOfBytes(rgb[at]!, rgb[at + 1]!, rgb[at + 2]!);
    labs[at] = lab[0];
    labs[at + 1] = lab[1];
    labs[at + 2] = lab[2];
  }
  return labs;
};

export const labAt = (labs: Float32Array, pixel: number): Lab => [
  labs[pixel * 3]!,
  labs[pixel * 3 + 1]!,
  labs[pixel * 3 + 2]!,
];

export const distance = (one: Lab, other: Lab): number =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
