// `npm run models -- check`: asks every installed local model for real work on a drawn still life whose truth is known,
// and measures how near it comes. `--keep folder` leaves the pictures there to be looked at.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import sharp from "sharp";
import { localModels } from "../server/src/providers/local/models.ts";
import type { Asset, ProviderContext } from "../server/src/providers/provider.ts";

const { keep } = parseArgs({ options: { keep: { type: "string" } } }).values;
const env = localModels.env.safeParse(process.env);
if (!env.success) {
  console.log("The local models are not installed: npm run models -- install");
  process.exit(1);
}

const SIZE = { width: 960, height: 720 };
const VASE = `<path d="M400 180 h160 c-10 60 70 120 70 230 c0 110 -60 170 -150 170 s-150 -60 -150 -170 c0 -110 80 -170 70 -230z"`;
const BALL = `<circle cx="760" cy="560" r="46"`;
const room = `
  <linearGradient id="wall" x2="0.3" y2="1"><stop stop-color="#d9d2c3"/><stop offset="1" stop-color="#a79f90"/></linearGradient>
  <linearGradient id="table" x2="0" y2="1"><stop stop-color="#8a5f3c"/><stop offset="1" stop-color="#5d3c22"/></linearGradient>
  <radialGradient id="glaze" cx="0.35" cy="0.3" r="0.8"><stop stop-color="#bfe3ff"/><stop offset="0.4" stop-color="#2f6fb3"/><stop offset="1" stop-color="#0d2747"/></radialGradient>
  <radialGradient id="red" cx="0.35" cy="0.3" r="0.8"><stop stop-color="#ff9a8a"/><stop offset="1" stop-color="#8f1208"/></radialGradient>
  <rect width="960" height="720" fill="url(#wall)"/><rect y="500" width="960" height="220" fill="url(#table)"/>`;
const vase = `<ellipse cx="520" cy="585" rx="190" ry="26" fill="#000" opacity="0.35"/>${VASE} fill="url(#glaze)"/>
  <g stroke="#e8f4ff" stroke-width="6" fill="none" opacity="0.8"><path d="M350 340 q130 40 260 0"/><path d="M335 440 q145 50 290 0"/></g>`;
const svg = (inside: string) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${sizeText()}>${inside}</svg>`);
const sizeText = () => `width="${SIZE.width}" height="${SIZE.height}"`;

/** A little grain, as every camera leaves it. */
const renderWithNoise = async (inside: string): Promise<Buffer> => {
  const image = sharp(svg(inside)).removeAlpha().blur(0.6).raw();
  const pixels = await image.toBuffer();
  for (let at = 0; at < pixels.length; at++) {
    const grain = ((Math.imul(at + 1, 2_654_435_761) >>> 24) & 7) - 4;
    pixels[at] = Math.max(0, Math.min(255, pixels[at]! + grain));
  }
  return sharp(pixels, { raw: { ...SIZE, channels: 3 } })
    .png()
    .toBuffer();
};
const shape = (path: string) =>
  sharp(svg(`<rect ${sizeText()} fill="#000"/>${path}`))
    .toColourspace("b-w")
    .png()
    .toBuffer();

const asset = (bytes: Uint8Array): Asset => ({
  asset_id: "",
  media_type: "image/png",
  url: async () => "",
  bytes: async () => bytes,
});

async function runModel(task: string, image: Uint8Array, more: { mask?: Uint8Array; options?: object } = {}) {
  const offer = localModels.offers.find((each) => each.task === task)!;
  const beginning = performance.now();
  const done = await localModels.submit(
    {
      task: offer.task,
      model: offer.model,
      images: [asset(image)],
      mask: more.mask && asset(more.mask),
      options: { ...more.options },
    },
    offer,
    { env: env.data, key: "check", timeoutSeconds: 120 } as ProviderContext<unknown>,
  );
  const output = done.state === "done" ? done.outputs[0] : undefined;
  if (!output || !("bytes" in output)) throw new Error("no picture came back");
  return { bytes: output.bytes, seconds: (performance.now() - beginning) / 1000 };
}

const raw = async (bytes: Uint8Array, channels: 1 | 3 | 4) => {
  const image = sharp(bytes);
  if (channels === 1) return image.toColourspace("b-w").raw().toBuffer();
  return (channels === 4 ? image.ensureAlpha() : image.removeAlpha()).toColourspace("srgb").raw().toBuffer();
};

/** In decibels; above 30 the eye sees little difference. */
const psnr = (one: Buffer, other: Buffer) => {
  const sum = one.reduce((total, value, at) => total + (value - other[at]!) ** 2, 0);
  return 10 * Math.log10(255 ** 2 / (sum / one.length));
};

let failures = 0;
const reportCheck = (name: string, seconds: number[], found: string, isGood: boolean) => {
  if (!isGood) failures++;
  const times = seconds.map((each) => `${each.toFixed(1)} s`).join(", then ");
  console.log(`${isGood ? "ok    " : "FAILED"}  ${name.padEnd(20)} ${times}   ${found}`);
};
const saveImage = (name: string, bytes: Uint8Array) => {
  if (!keep) return;
  mkdirSync(keep, { recursive: true });
  writeFileSync(join(keep, name), bytes);
};

async function checkBackground(): Promise<void> {
  const scene = await renderWithNoise(room + vase);
  const [first, second] = [
    await runModel("image.remove-background", scene),
    await runModel("image.remove-background", scene),
  ];
  const [cut, truth] = [await raw(second.bytes, 4), await raw(await shape(`${VASE} fill="#fff"/>`), 1)];
  let [both, either] = [0, 0];
  for (let pixel = 0; pixel < truth.length; pixel++) {
    const [seen, meant] = [cut[pixel * 4 + 3]! > 127, truth[pixel]! > 127];
    if (seen && meant) both++;
    if (seen || meant) either++;
  }
  saveImage("scene.png", scene);
  saveImage("background.png", second.bytes);
  const share = both / either;
  reportCheck(
    "remove background",
    [first.seconds, second.seconds],
    `overlap with the ground truth ${(share * 100).toFixed(1)} %`,
    share > 0.9,
  );
}

async function checkRemoval(): Promise<void> {
  const [without, scene] = [
    await renderWithNoise(room + vase),
    await renderWithNoise(`${room}${vase}${BALL} fill="url(#red)"/>`),
  ];
  const mask = await shape(BALL.replace('r="46"', 'r="52"').concat(' fill="#fff"/>'));
  const [first, second] = [
    await runModel("image.remove", scene, { mask }),
    await runModel("image.remove", scene, { mask }),
  ];
  const [filled, before, truth, marked] = await Promise.all([
    raw(second.bytes, 3),
    raw(scene, 3),
    raw(without, 3),
    raw(mask, 1),
  ]);
  const isUntouched = filled.every((value, at) => marked[Math.floor(at / 3)]! > 0 || value === before[at]);
  saveImage("removal-before.png", scene);
  saveImage("removal.png", second.bytes);
  const decibels = psnr(filled, truth);
  reportCheck(
    "remove by mask",
    [first.seconds, second.seconds],
    `${decibels.toFixed(1)} dB from the empty table, rest untouched: ${isUntouched}`,
    isUntouched && decibels > 30,
  );
}

async function checkUpscale(factor: 2 | 4): Promise<void> {
  const scene = await renderWithNoise(room + vase);
  const small = await sharp(scene)
    .resize(SIZE.width / factor)
    .png()
    .toBuffer();
  const [first, second] = [
    await runModel("image.upscale", small, { options: { factor } }),
    await runModel("image.upscale", small, { options: { factor } }),
  ];
  const plain = await sharp(small)
    .resize({ ...SIZE, kernel: "linear" })
    .png()
    .toBuffer();
  const { width } = await sharp(second.bytes).metadata();
  const truth = await raw(scene, 3);
  const [ours, theirs] = [psnr(await raw(second.bytes, 3), truth), psnr(await raw(plain, 3), truth)];
  saveImage(`upscale-x${factor}.png`, second.bytes);
  saveImage(`upscale-x${factor}-plain.png`, plain);
  reportCheck(
    `upscale ×${factor}`,
    [first.seconds, second.seconds],
    `${ours.toFixed(1)} dB from the truth, plain enlarging ${theirs.toFixed(1)} dB`,
    width === SIZE.width && ours > 28,
  );
}

await checkBackground();
await checkRemoval();
await checkUpscale(2);
await checkUpscale(4);
process.exit(failures > 0 ? 1 : 0);
