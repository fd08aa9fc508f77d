// How well soft binding finds copies: fingerprints of a synthetic corpus, and of copies that were compressed again,
// made smaller and cropped. Prints how many copies are found, and how often another image is taken for one.
import { parseArgs } from "node:util";
import sharp, { type Sharp } from "sharp";
import { drawImage } from "../../../sandbox/src/drawing/draw-image.ts";
import {
  CROPS,
  FINGERPRINT_BITS,
  type FingerprintPixels,
  fingerprintsOf,
  hammingDistance,
  type LostMargins,
  MAX_MATCH_DISTANCE,
} from "../../src/files/images/fingerprint.ts";
import { createSeededRandom } from "../support/seeded-random.ts";

const { values } = parseArgs({
  options: { images: { type: "string", default: "2100" }, seed: { type: "string", default: "1" } },
});
const random = createSeededRandom(Number(values.seed));
const colour = () => `rgb(${random(256)},${random(256)},${random(256)})`;
const PLACES = ["harbour", "forest", "city", "desert", "meadow", "mountain", "beach", "street", "kitchen", "studio"];
const THINGS = ["fox", "boat", "bicycle", "bridge", "tree", "lamp", "cat", "balloon", "portrait of a woman", "bird"];

/** A scene of the sandbox: many share a layout, as images of one prompt do. */
function drawScene(seed: number): Promise<Buffer> {
  const prompt = `a ${THINGS[random(THINGS.length)]} in a ${PLACES[random(PLACES.length)]}`;
  const height = [256, 320, 384][random(3)]!;
  return drawImage({ prompt, model: "flux-dev", width: 320, height, seed, index: 0, isBare: true });
}

/** Shapes of random kind, colour and place on a gradient. */
function drawShapes(): Promise<Buffer> {
  const [width, height] = [320, 240 + 40 * random(4)];
  const turn = () => random(180) - 90;
  const drawShape = () => {
    const [x, y, size] = [random(width), random(height), 16 + random(120)];
    const fill = `fill="${colour()}" fill-opacity="${0.4 + random(60) / 100}"`;
    const kinds = [
      `<circle cx="${x}" cy="${y}" r="${size / 2}" ${fill}/>`,
      `<rect x="${x}" y="${y}" width="${size}" height="${16 + random(120)}" transform="rotate(${turn()} ${x} ${y})" ${fill}/>`,
      `<path d="M${x} ${y} l${turn()} ${turn()} l${turn()} ${turn()} z" ${fill}/>`,
    ];
    return kinds[random(3)];
  };
  const stops = `<stop stop-color="${colour()}"/><stop offset="1" stop-color="${colour()}"/>`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    `<defs><linearGradient id="g" x2="${random(2)}" y2="1">${stops}</linearGradient></defs>`,
    '<rect width="100%" height="100%" fill="url(#g)"/>',
    ...Array.from({ length: 5 + random(25) }, drawShape),
    "</svg>",
  ].join("");
  return sharp(Buffer.from(svg)).removeAlpha().png({ compressionLevel: 1 }).toBuffer();
}

/** A soft random field, as clouds or terrain have. */
function drawField(): Promise<Buffer> {
  const side = 6 + random(14);
  const pixels = Buffer.from(Array.from({ length: side * side * 3 }, () => random(256)));
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } })
    .resize(320, 240 + 40 * random(3), { kernel: "cubic", fit: "fill" })
    .png({ compressionLevel: 1 })
    .toBuffer();
}

const KINDS = [drawScene, drawShapes, drawField];
const CROPPED = 0.95;

type Size = { width: number; height: number };
const crop = (image: Sharp, { width, height }: Size, across: number, down: number) => {
  const [newWidth, newHeight] = [Math.round(width * CROPPED), Math.round(height * CROPPED)];
  const [left, top] = [Math.round((width - newWidth) * across), Math.round((height - newHeight) * down)];
  return image.extract({ left, top, width: newWidth, height: newHeight });
};
const COPIES: Record<string, (image: Sharp, size: Size) => Promise<Buffer>> = {
  "JPEG quality 60": (image) => image.jpeg({ quality: 60 }).toBuffer(),
  "50 % size": (image, { width, height }) =>
    image
      .resize(width / 2, height / 2, { fit: "fill" })
      .png({ compressionLevel: 1 })
      .toBuffer(),
  "5 % crop, centre": (image, size) => crop(image, size, 0.5, 0.5).png({ compressionLevel: 1 }).toBuffer(),
  "5 % crop, one corner": (image, size) =>
    crop(image, size, random(2), random(2)).png({ compressionLevel: 1 }).toBuffer(),
  "all three, centre": async (image, size) => {
    const cropped = await crop(image, size, 0.5, 0.5).toBuffer();
    const small = { width: Math.round(size.width * 0.475) };
    return sharp(cropped).resize(small).jpeg({ quality: 60 }).toBuffer();
  },
  "all three, one corner": async (image, size) => {
    const cropped = await crop(image, size, random(2), random(2)).toBuffer();
    const small = { width: Math.round(size.width * 0.475) };
    return sharp(cropped).resize(small).jpeg({ quality: 60 }).toBuffer();
  },
};

/** As the isolated process does, which cannot load the format that the corpus is drawn in. */
async function fingerprintImage(bytes: Uint8Array, lost: LostMargins[]): Promise<string[]> {
  const small = sharp(bytes).resize({ width: 320, height: 320, fit: "inside", withoutEnlargement: true });
  const { data, info } = await small.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const pixels = { data, width: info.width, height: info.height, channels: info.channels } as FingerprintPixels;
  return fingerprintsOf(pixels, lost);
}

type Entry = { kind: number; stored: string; copies: Record<string, string[]> };
const entries: Entry[] = [];
let plain = 0;
const times: number[] = [];
for (let index = 0; index < Number(values.images); index++) {
  const bytes = await KINDS[index % KINDS.length]!(index);
  const { width, height } = await sharp(bytes).metadata();
  const [stored] = await fingerprintImage(bytes, CROPS.slice(0, 1));
  if (!stored) {
    plain++;
    continue;
  }
  const copies: Entry["copies"] = {};
  for (const [name, make] of Object.entries(COPIES)) {
    const copy = await make(sharp(bytes), { width, height });
    const before = performance.now();
    copies[name] = await fingerprintImage(copy, CROPS);
    times.push(performance.now() - before);
  }
  entries.push({ kind: index % KINDS.length, stored, copies });
}

const distanceTo = (copy: string[], stored: string) => Math.min(...copy.map((each) => hammingDistance(each, stored)));
const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(2)} %`;
const quantile = (sorted: number[], at: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))];

console.log(`${entries.length} images (synthetic), ${plain} without structure; ${FINGERPRINT_BITS} bits`);
const thresholds = [...new Set([MAX_MATCH_DISTANCE - 4, MAX_MATCH_DISTANCE, MAX_MATCH_DISTANCE + 4])];
for (const name of Object.keys(COPIES)) {
  const own = entries.map(({ stored, copies }) => distanceTo(copies[name]!, stored)).sort((a, b) => a - b);
  const found = thresholds.map((most) => `≤${most}: ${share(own.filter((each) => each <= most).length, own.length)}`);
  console.log(`${name.padEnd(24)} p50 ${quantile(own, 0.5)}  p99 ${quantile(own, 0.99)}  found ${found.join("  ")}`);
}

// Every copy of the hardest kind against every other image, as a search does it.
const foreign = new Array<number>(FINGERPRINT_BITS + 1).fill(0);
let firsts = 0;
const falseKinds = [0, 0, 0];
for (const { stored: own, copies, kind } of entries) {
  let nearest = FINGERPRINT_BITS;
  for (const { stored } of entries) {
    if (stored === own) continue;
    const distance = distanceTo(copies["all three, one corner"]!, stored);
    foreign[distance]!++;
    nearest = Math.min(nearest, distance);
  }
  if (nearest <= MAX_MATCH_DISTANCE) {
    firsts++;
    falseKinds[kind]!++;
  }
}
const pairs = foreign.reduce((sum, each) => sum + each, 0);
for (const most of thresholds) {
  const wrong = foreign.slice(0, most + 1).reduce((sum, each) => sum + each, 0);
  console.log(`false matches ≤${most}: ${wrong} of ${pairs} pairs, ${(wrong / pairs).toExponential(1)}`);
}
console.log(
  `searches with a false match ≤${MAX_MATCH_DISTANCE}: ${share(firsts, entries.length)} (scenes ${falseKinds[0]}, shapes ${falseKinds[1]}, fields ${falseKinds[2]})`,
);
times.sort((a, b) => a - b);
console.log(`decoding and ${CROPS.length} fingerprints: p50 ${quantile(times, 0.5)?.toFixed(1)} ms`);
