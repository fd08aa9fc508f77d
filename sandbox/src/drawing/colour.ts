// Mixes colours the way the eye does: through OKLab, so that a blend of two clear colours never turns muddy.
import { type Lab, labOfBytes } from "../vision/lab.ts";

const toChannel = (linear: number): number =>
  linear <= 0.0031308 ? linear * 12.92 : 1.055 * Math.max(linear, 0) ** (1 / 2.4) - 0.055;

export const labOf = (hex: string): Lab => {
  const packed = Number.parseInt(hex.slice(1), 16);
  return labOfBytes((packed >> 16) & 255, (packed >> 8) & 255, packed & 255);
};

export const hexOf = ([lightness, a, b]: Lab): string => {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  const bytes = channels.map((linear) => Math.round(Math.min(1, Math.max(0, toChannel(linear))) * 255));
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

export const mix = (from: string, to: string, share: number): string => {
  const start = labOf(from);
  const end = labOf(to);
  const blend = (index: 0 | 1 | 2) => start[index] + (end[index] - start[index]) * share;
  return hexOf([blend(0), blend(1), blend(2)]);
};

/**
 * Gives `colour` the hue of `tint` and keeps most of its own lightness, so that light and depth survive the tinting.
 */
export const tinted = (colour: string, tint: string, share: number): string => {
  const own = labOf(colour);
  const other = labOf(tint);
  const lightness = own[0] + (other[0] - own[0]) * share * 0.3;
  return hexOf([lightness, own[1] + (other[1] - own[1]) * share, own[2] + (other[2] - own[2]) * share]);
};

export const lightnessOf = (colour: string): number => labOf(colour)[0];
