// Fills a hole in an image from its surroundings: colours diffuse from the edge, coarse to fine, and grain as strong as
// around the hole is added.
import { createSeededRandom } from "../drawing/seeded-random.ts";
import type { Size } from "../size.ts";
import type { Pixels } from "../vision/pixels.ts";
import { boundingBox, type Mask } from "./mask.ts";

/** Colours as numbers, and 1 where a pixel is known. */
type Level = Size & { colours: Float32Array; known: Uint8Array };

const margin = 24;

const cut = (pixels: Pixels, hole: Mask, left: number, top: number, size: Size): Level => {
  const { width, height } = size;
  const colours = new Float32Array(width * height * 3);
  const known = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const from = (y + top) * pixels.width + x + left;
      const to = y * width + x;
      known[to] = hole[from] ? 0 : 1;
      if (hole[from]) continue;
      for (let channel = 0; channel < 3; channel += 1) colours[to * 3 + channel] = pixels.rgb[from * 3 + channel]!;
    }
  }
  return { ...size, colours, known };
};

const halved = (level: Level): Level => {
  const width = Math.ceil(level.width / 2);
  const height = Math.ceil(level.height / 2);
  const colours = new Float32Array(width * height * 3);
  const counts = new Float32Array(width * height);
  for (let y = 0; y < level.height; y += 1) {
    for (let x = 0; x < level.width; x += 1) {
      const from = y * level.width + x;
      if (!level.known[from]) continue;
      const to = (y >> 1) * width + (x >> 1);
      counts[to]! += 1;
      for (let channel = 0; channel < 3; channel += 1) colours[to * 3 + channel]! += level.colours[from * 3 + channel]!;
    }
  }
  for (let at = 0; at < colours.length; at += 1) colours[at]! /= counts[Math.floor(at / 3)]! || 1;
  return { width, height, colours, known: Uint8Array.from(counts, (count) => (count ? 1 : 0)) };
};

/** Each unknown pixel becomes the mean of its neighbours, repeatedly. */
const diffuse = ({ width, height, colours, known }: Level, rounds: number): void => {
  const open = [...known.keys()].filter((cell) => !known[cell]);
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const cell of open) {
      const x = cell % width;
      const left = x > 0 ? cell - 1 : cell;
      const right = x < width - 1 ? cell + 1 : cell;
      const above = cell >= width ? cell - width : cell;
      const below = cell < width * (height - 1) ? cell + width : cell;
      for (let channel = 0; channel < 3; channel += 1) {
        const sum =
          colours[left * 3 + channel]! +
          colours[right * 3 + channel]! +
          colours[above * 3 + channel]! +
          colours[below * 3 + channel]!;
        colours[cell * 3 + channel] = sum / 4;
      }
    }
  }
};

const spread = (level: Level): void => {
  const { width, height, colours, known } = level;
  if (!known.includes(0)) return;
  if (width <= 2 || height <= 2) {
    diffuse(level, 8);
    return;
  }
  const coarse = halved(level);
  spread(coarse);
  for (let cell = 0; cell < known.length; cell += 1) {
    if (known[cell]) continue;
    const x = cell % width;
    const from = (((cell - x) / width) >> 1) * coarse.width + (x >> 1);
    for (let channel = 0; channel < 3; channel += 1) colours[cell * 3 + channel] = coarse.colours[from * 3 + channel]!;
  }
  diffuse(level, 12);
};

/** How much neighbours differ around the hole, without counting true edges. */
const grainOf = ({ width, height, colours, known }: Level): number => {
  const steps: number[] = [];
  for (let cell = 1; cell < width * height; cell += 3) {
    if (!known[cell] || !known[cell - 1] || cell % width === 0) continue;
    steps.push(Math.abs(colours[cell * 3 + 1]! - colours[cell * 3 - 2]!));
  }
  steps.sort((one, other) => one - other);
  return Math.min(6, steps[Math.floor(steps.length * 0.7)] ?? 0);
};

export const inpaint = (pixels: Pixels, hole: Mask, seed: number): Pixels => {
  const box = boundingBox(hole, pixels, 1);
  if (!box) return pixels;
  const left = Math.max(0, box.x - margin);
  const top = Math.max(0, box.y - margin);
  const width = Math.min(pixels.width, box.x + box.width + margin) - left;
  const height = Math.min(pixels.height, box.y + box.height + margin) - top;
  const level = cut(pixels, hole, left, top, { width, height });
  const grain = grainOf(level);
  spread(level);
  const random = createSeededRandom(`grain ${seed}`);
  const rgb = Buffer.from(pixels.rgb);
  for (let cell = 0; cell < level.known.length; cell += 1) {
    if (level.known[cell]) continue;
    const to = (Math.floor(cell / width) + top) * pixels.width + (cell % width) + left;
    const shake = grain ? random.between(-grain, grain) : 0;
    for (let channel = 0; channel < 3; channel += 1) {
      rgb[to * 3 + channel] = Math.min(255, Math.max(0, Math.round(level.colours[cell * 3 + channel]! + shake)));
    }
  }
  return { width: pixels.width, height: pixels.height, rgb };
};
