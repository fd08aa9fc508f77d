// A small valid job for any offer, as the server would pass it: within the limits of the offer, and supported by it.
// The images are real, in memory.
import { createHash } from "node:crypto";
import sharp from "sharp";
import type { Job, Task } from "../../src/contract/operation.ts";
import type { Asset, Offer } from "../../src/providers/provider.ts";
import { drawTestImage } from "./result-files.ts";

type AssetJob = Job<Asset>;

const SIDE = 64;

/** An asset that is created when it is read. No server serves its URL. */
export function createAsset(name: string, bytes: () => Promise<Uint8Array>, mediaType = "image/png"): Asset {
  const hash = createHash("sha256").update(name).digest("hex");
  const asset_id = `${hash.slice(0, 8)}-0000-7000-8000-${hash.slice(8, 20)}`;
  return { asset_id, media_type: mediaType, url: async () => `https://gesso.example.com/assets/${asset_id}`, bytes };
}

/** A plain image; another name has another colour. */
export const createImageAsset = (name: string, width = SIDE, height = SIDE): Asset =>
  createAsset(`${name} ${width} ${height}`, () => drawTestImage(name, width, height));

/** Black, with a white rectangle in the middle or at a side: the part that is to change. */
export const createMaskAsset = (width = SIDE, height = SIDE, gravity = "centre"): Asset =>
  createAsset(`mask ${width} ${height} ${gravity}`, async () => {
    const [across, down] = [Math.round(width / 2), Math.round(height / 2)];
    const white = await sharp({ create: { width: across, height: down, channels: 3, background: "#ffffff" } })
      .png()
      .toBuffer();
    return sharp({ create: { width, height, channels: 3, background: "#000000" } })
      .composite([{ input: white, gravity }])
      .toColourspace("b-w")
      .png()
      .toBuffer();
  });

const images = (count: number) => Array.from({ length: count }, (_, index) => createImageAsset(`source ${index}`));

/** The minimal fields of each task. */
const TASKS: Record<Task, () => Partial<AssetJob>> = {
  "image.generate": () => ({ prompt: "a red bicycle by the sea" }),
  "image.edit": () => ({ prompt: "make it night", images: images(1) }),
  "image.character": () => ({ prompt: "reading in a cafe", images: images(1) }),
  "image.reference": () => ({ prompt: "@hero on a beach", images: images(1), options: { tags: ["hero"] } }),
  "image.segment": () => ({ prompt: "the red circle", images: images(1), count: 1 }),
  "image.remove-background": () => ({ images: images(1) }),
  "image.remove": () => ({
    prompt: "the lamp",
    images: images(1),
    options: { remove_shadow: false, multiple: false },
  }),
  "image.reframe": () => ({ images: images(1), aspect_ratio: "16:9" }),
  "image.describe": () => ({ images: images(1), options: { detail: "normal" } }),
  "image.upscale": () => ({ images: images(1), options: { factor: 2 } }),
  "image.resize": () => ({ images: images(1), options: { scale: 0.75 } }),
  "image.combine": () => ({ images: images(2), options: { mode: "side-by-side", gap: 0, opacity: 1 } }),
  "image.cut": () => ({ images: images(1), masks: [createMaskAsset()], options: { mode: "extract", invert: false } }),
  "image.blend": () => ({ images: images(2), mask: createMaskAsset() }),
  "prompt.enhance": () => ({ prompt: "a red bicycle", options: { model_type: "flux-dev" } }),
  "model.run": () => ({
    model_run: { input: { prompt: "a boat lands" }, files: [], outputs: [], version: null, call_price: null },
  }),
  "video.generate": () => ({ prompt: "it moves", images: images(1), aspect_ratio: "16:9", options: { duration: 3 } }),
};

/** Fields that these models always need. */
const MODELS: Record<string, () => Partial<AssetJob>> = {
  "vendorb-imagen4": () => ({ aspect_ratio: "1:1" }),
  "flux-kontext-multi": () => ({ images: images(2) }),
  "wan-image-2.1": () => ({ width: 512, height: 512, count: 2, options: { model_id: "our-model" } }),
  "wan-image-2.2": () => ({
    width: 512,
    height: 512,
    options: { model_id: "our-model", lora_low_name: "style-low", lora_high_name: "style-high" },
  }),
  "qwen-image-edit": () => ({ width: 512, height: 512 }),
};

/** What a job may bring besides, tried in this order until the offer's `when` is content. */
const JOB_VARIANTS: (() => Partial<AssetJob>)[] = [
  () => ({}),
  () => ({ images: images(1) }),
  () => ({ images: images(1), mask: createMaskAsset() }),
  () => ({ images: images(1), mask: createMaskAsset(), prompt: undefined }),
  () => ({ images: images(2) }),
  () => ({ images: images(2), mask: createMaskAsset(), mask_over: 1 }),
  () => ({ images: undefined }),
  () => ({ options: { model_id: "our-model" } }),
  () => ({ images: images(1), options: { model_id: "our-model" } }),
  () => ({ images: images(1), options: { lora_1: "our-lora" } }),
];

export function createSampleJob(offer: Offer, overrides: Partial<AssetJob> = {}): AssetJob {
  const { task, model } = offer;
  const least = { ...TASKS[task](), ...(task === "image.generate" && MODELS[model]?.()) };
  const ways = JOB_VARIANTS.map((way) => ({ task, model, ...least, ...way() }));
  const job = ways.find((each) => !offer.supports || offer.supports(each));
  if (!job) throw new Error(`no job that ${offer.upstreamModel} would take for ${task} with ${model} is known here`);
  return { ...fitToLimits(job, offer), ...overrides };
}

/** The job as the server would have fitted it to the offer. */
function fitToLimits(job: AssetJob, { limits = {} }: Offer): AssetJob {
  const fitted = { ...job };
  const { ratios, sizes, sides, durations, duration } = limits;
  if (ratios && job.aspect_ratio && !ratios.includes(job.aspect_ratio)) fitted.aspect_ratio = ratios[0];
  if (job.width && job.height) {
    const side = Math.min(Math.max(job.width, sides?.least ?? 0), sides?.most ?? Number.POSITIVE_INFINITY);
    const [width, height] = sizes?.[0]?.split("x").map(Number) ?? [side, side];
    Object.assign(fitted, { width, height });
  }
  const seconds = durations?.[0] ?? duration?.least;
  if (seconds !== undefined && job.options?.duration !== undefined) {
    fitted.options = { ...job.options, duration: seconds };
  }
  return fitted;
}
