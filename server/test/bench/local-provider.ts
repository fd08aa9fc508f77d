// `npx node server/test/bench/local.ts`: image work through the local provider beside bare sharp doing the same, in
// turns in one process, so that a busy machine is busy for both.
import sharp from "sharp";
import "../../src/files/images/isolated/allowed-formats.ts";
import { local } from "../../src/providers/local.ts";
import type { ProviderContext } from "../../src/providers/provider.ts";
import { createJob } from "../support/ascii-images.ts";
import { runPixelTask } from "../support/isolated-pixels.ts";

const SIDE = 1024;
const ROUNDS = 25;
const GOAL = 2;

/** An image with slopes, edges and a little grain, so that compressing it is real work. */
const scene = (hue: number) => {
  const data = Buffer.alloc(SIDE * SIDE * 3);
  for (let pixel = 0; pixel < SIDE * SIDE; pixel++) {
    const [x, y] = [pixel % SIDE, Math.floor(pixel / SIDE)];
    const grain = (Math.imul(pixel + hue, 2_654_435_761) >>> 28) & 7;
    const inside = (x - 512) ** 2 + (y - 512) ** 2 < 300 ** 2 ? 90 : 0;
    data.set(
      [((x >> 2) + hue + grain) & 255, ((y >> 2) + inside + grain) & 255, (hue + inside + grain) & 255],
      pixel * 3,
    );
  }
  return sharp(data, { raw: { width: SIDE, height: SIDE, channels: 3 } })
    .png()
    .toBuffer();
};

const [left, right] = [await scene(20), await scene(140)];
const disc = `<svg width="${SIDE}" height="${SIDE}"><circle cx="512" cy="512" r="300" fill="#fff"/></svg>`;
const mask = await drawn(disc);

async function drawn(svg: string): Promise<Buffer> {
  sharp.unblock({ operation: ["VipsForeignLoadSvg"] });
  const bytes = await sharp(Buffer.from(svg)).flatten({ background: "#000" }).toColourspace("b-w").png().toBuffer();
  sharp.block({ operation: ["VipsForeignLoadSvg"] });
  return bytes;
}

const throughProvider = (
  task: "image.combine" | "image.cut" | "image.blend",
  inputs: Parameters<typeof createJob>[1],
) => {
  const offer = local.offers.find((each) => each.task === task)!;
  return () => local.submit(createJob(task, inputs), offer, { runPixelTask } as ProviderContext<unknown>);
};

const sharpCombine = () =>
  sharp({ create: { width: 2 * SIDE, height: SIDE, channels: 3, background: "#000" } })
    .composite([
      { input: left, left: 0, top: 0 },
      { input: right, left: SIDE, top: 0 },
    ])
    .png()
    .toBuffer();
const sharpCut = async () => {
  const alpha = await sharp(mask).toColourspace("b-w").raw().toBuffer();
  return sharp(left)
    .joinChannel(alpha, { raw: { width: SIDE, height: SIDE, channels: 1 } })
    .png()
    .toBuffer();
};
const sharpBlend = async () => {
  const alpha = await sharp(mask).toColourspace("b-w").raw().toBuffer();
  const upper = await sharp(right)
    .joinChannel(alpha, { raw: { width: SIDE, height: SIDE, channels: 1 } })
    .raw()
    .toBuffer();
  const raw = { width: SIDE, height: SIDE, channels: 4 as const };
  return sharp(left)
    .composite([{ input: upper, raw }])
    .removeAlpha()
    .png()
    .toBuffer();
};

const timed = async (work: () => Promise<unknown>) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

const PAIRS = [
  ["combine of two", throughProvider("image.combine", { images: [left, right] }), sharpCombine],
  ["cut by a mask", throughProvider("image.cut", { images: [left], masks: [mask] }), sharpCut],
  ["blend by a mask", throughProvider("image.blend", { images: [left, right], mask }), sharpBlend],
] as const;

let isSlow = false;
for (const [name, ours, bare] of PAIRS) {
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let round = -3; round < ROUNDS; round++) {
    const [own, plain] = [await timed(ours), await timed(bare)];
    if (round < 0) continue;
    times.ours.push(own);
    times.bare.push(plain);
  }
  const [own, plain] = [median(times.ours), median(times.bare)];
  isSlow ||= own > GOAL * plain;
  console.log(
    `${name.padEnd(16)} ${SIDE}×${SIDE}   p50 local ${own.toFixed(0)} ms, bare sharp ${plain.toFixed(0)} ms: ${(own / plain).toFixed(2)}×   (goal: at most ${GOAL}×)`,
  );
}
process.exit(isSlow ? 1 : 0);
