// The offers of Replicate. Fields and limits are from the pages of the models; prices are only shown there, not in the
// API. All but two are rows, because their requests only rename, leave out and add fields.
import { FLUX_KONTEXT_ASPECT_RATIOS } from "../../contract/models.ts";
import type { Job } from "../../contract/operation.ts";
import { FRAME_PARAMETERS, LORA_PAIR_PARAMETERS } from "../../contract/task-parameters.ts";
import { convertedMask, type OfferRow, offerFromRow } from "../offer-row.ts";
import { asAspectRatio, declareParameters, seedBelow, unlessWith, within } from "../parameter-support.ts";
import type { Asset, Offer, RowNotation } from "../provider.ts";
import { type OfferSpec, withPublishedPrices } from "../with-published-prices.ts";

const FLUX_RATIOS = ["1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21"];
const BANANA_RATIOS = [
  ...["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
  ...["1:4", "4:1", "1:8", "8:1"],
];
const BANANA_RESOLUTIONS = { "1K": 1024 * 1024, "2K": 2048 * 2048, "4K": 4096 * 4096 };
const CHARACTER_RATIOS = [
  ...["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "16:10", "10:16", "5:4", "4:5", "2:1", "1:2", "3:1", "1:3"],
];
const GEN4_RATIOS = ["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"];
const PHOTON_RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"];

const constants = { output_format: "png" };
const SHAPED = { prompt: "prompt", aspect_ratio: "aspect_ratio" } as const;

const KONTEXT = {
  task: "image.generate",
  model: "flux-kontext-max",
  upstreamModel: "black-forest-labs/flux-kontext-max",
  preference: 50,
  equivalence: "flux-kontext-max",
  limits: { ratios: FLUX_KONTEXT_ASPECT_RATIOS, count: 1 },
  fields: { ...SHAPED, seed: "seed", images: "input_image" },
  constants,
} as const;
const GPT = {
  model: "vendora",
  upstreamModel: "openai/gpt-image-2.5-flare",
  preference: 60,
  equivalence: "gpt-image",
  latency: "slow",
  limits: { ratios: ["1:1", "3:2", "2:3"], images: 16, count: 1 },
  fields: { ...SHAPED, images: "input_images[]" },
  constants: { ...constants, quality: "high" },
} as const;
/** Other models, so they never take over a job of the one above. */
const GPT_2 = { ...GPT, upstreamModel: "openai/gpt-image-2", preference: 70, equivalence: "gpt-image-2" } as const;
const GPT_15 = {
  ...GPT,
  upstreamModel: "openai/gpt-image-1.5",
  equivalence: "gpt-image-1.5",
  lifecycle: { state: "deprecated", successor: "openai/gpt-image-2.5-flare" },
  limits: { ...GPT.limits, count: 10 },
  fields: { ...GPT.fields, count: "number_of_images" },
  constants,
} as const;
const BANANA = {
  upstreamModel: "google/nano-banana-2.1",
  preference: 60,
  equivalence: "nano-banana",
  limits: { ratios: BANANA_RATIOS, resolutions: BANANA_RESOLUTIONS, images: 14, count: 1 },
  fields: { ...SHAPED, resolution: "resolution", images: "image_input[]" },
  constants,
} as const;
/** Google ended the model. The offers are left for jobs of the past, and name the successor. */
const BANANA_2 = {
  ...BANANA,
  model: "nanobanana",
  upstreamModel: "google/nano-banana-2",
  equivalence: undefined,
  lifecycle: { state: "retired", since: "2026-10-29", successor: "google/nano-banana-2.1" },
} as const;
const REFRAME = {
  task: "image.reframe",
  upstreamModel: "luma/reframe-image",
  preference: 60,
  limits: { ratios: PHOTON_RATIOS, count: 1 },
  fields: {
    ...SHAPED,
    images: "image",
    ...Object.fromEntries(FRAME_PARAMETERS.map((name) => [name, name])),
  },
} as const;

const rows: OfferRow[] = [
  KONTEXT,
  { ...KONTEXT, task: "image.edit" },
  { ...KONTEXT, task: "image.edit", model: "edit-default", preference: 60, equivalence: undefined },
  {
    ...KONTEXT,
    model: "flux-kontext-multi",
    upstreamModel: "flux-kontext-apps/multi-image-kontext-max",
    preference: 60,
    equivalence: "flux-kontext-multi",
    fields: { ...SHAPED, seed: "seed", images: ["input_image_1", "input_image_2"] },
    leastImages: 2,
  },
  {
    task: "image.generate",
    model: "vendorb-imagen4",
    upstreamModel: "google/imagen-4",
    preference: 60,
    lifecycle: { state: "retired", since: "2026-08-17", successor: "google/nano-banana-2.1" },
    limits: { ratios: ["1:1", "16:9", "9:16", "4:3", "3:4"], count: 1 },
    fields: SHAPED,
    constants,
  },
  { ...GPT, task: "image.generate" },
  { ...GPT, task: "image.edit" },
  { ...GPT_2, task: "image.generate" },
  { ...GPT_2, task: "image.edit" },
  { ...GPT_15, task: "image.generate" },
  { ...GPT_15, task: "image.edit" },
  { ...BANANA, task: "image.generate", model: "nanobanana" },
  { ...BANANA, task: "image.edit", model: "nanobanana" },
  { ...BANANA, task: "image.generate", model: "gemini-2.5" },
  { ...BANANA, task: "image.edit", model: "gemini-2.5" },
  { ...BANANA_2, task: "image.generate" },
  { ...BANANA_2, task: "image.edit" },
  {
    task: "image.generate",
    model: "qwen-image-edit",
    upstreamModel: "qwen/qwen-image-edit-plus",
    preference: 60,
    equivalence: "qwen-image-edit",
    limits: { ratios: ["1:1", "16:9", "9:16", "4:3", "3:4"], images: 3, count: 1 },
    // The fast mode ignores the seed.
    fields: { ...SHAPED, seed: { field: "seed", with: { go_fast: false } }, images: "image[]" },
    constants,
    // The model only edits, so it needs an image. It supports no LoRA.
    leastImages: 1,
    without: ["lora_1"],
  },
  {
    task: "image.reference",
    model: "reference-default",
    upstreamModel: "runwayml/gen4-image",
    preference: 50,
    equivalence: "gen4-image",
    limits: { ratios: GEN4_RATIOS, images: 3, count: 1 },
    fields: { ...SHAPED, images: "reference_images[]", tags: "reference_tags", resolution: "resolution" },
  },
  { ...REFRAME, model: "photon-1", equivalence: "photon-1", constants: { model: "photon-1" } },
  { ...REFRAME, model: "photon-flash-1", equivalence: "photon-flash-1", constants: { model: "photon-flash-1" } },
  {
    task: "image.remove-background",
    model: "remove-background-default",
    upstreamModel: "bria/remove-background",
    preference: 60,
    equivalence: "remove-background",
    latency: "quick",
    limits: { count: 1 },
    fields: { images: "image" },
  },
  {
    // The model removes the masked area; it does not find objects by prompt.
    task: "image.remove",
    model: "remove-default",
    upstreamModel: "bria/eraser",
    preference: 60,
    equivalence: "object-removal",
    limits: { count: 1 },
    needs: ["mask"],
    fields: { images: "image", mask: "mask" },
  },
  {
    task: "image.edit",
    model: "edit-default",
    upstreamModel: "bria/genfill",
    preference: 60,
    equivalence: "mask-fill",
    limits: { count: 1 },
    needs: ["mask"],
    fields: { prompt: "prompt", images: "image", mask: "mask" },
  },
  {
    task: "image.segment",
    model: "segment-default",
    upstreamModel: "mattsays/sam3-image:latest",
    preference: 60,
    equivalence: "text-segmentation",
    latency: "slow",
    limits: { count: 1 },
    // All found objects are in one mask.
    without: ["multiple"],
    fields: { prompt: "prompt", images: "image" },
    constants: { mask_only: true, return_zip: false },
  },
  {
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "google/upscaler",
    preference: 60,
    equivalence: "upscale",
    limits: { count: 1 },
    fields: { images: "image", factor: { field: "upscale_factor", as: "times", default: 2 } },
  },
  {
    task: "video.generate",
    model: "video-default",
    upstreamModel: "kwaivgi/kling-v3-video",
    preference: 60,
    latency: "slow",
    limits: { ratios: ["16:9", "9:16", "1:1"], duration: { least: 3, most: 15 }, count: 1 },
    fields: {
      prompt: { field: "prompt", default: "" },
      negative_prompt: "negative_prompt",
      images: "start_image",
      // A video has the shape of its first frame.
      aspect_ratio: { field: "aspect_ratio", unless: "images" },
      duration: "duration",
    },
    // 720p without sound: the price of this model depends on both.
    constants: { mode: "standard", generate_audio: false },
  },
  {
    task: "video.generate",
    model: "video-default",
    upstreamModel: "kwaivgi/kling-v2.1",
    preference: 60,
    latency: "slow",
    lifecycle: { state: "deprecated", successor: "kwaivgi/kling-v3-video" },
    limits: { durations: [5, 10], count: 1 },
    fields: {
      prompt: { field: "prompt", default: "" },
      negative_prompt: "negative_prompt",
      images: "start_image",
      duration: "duration",
    },
    leastImages: 1,
  },
];

const QUARTER_MEGAPIXEL = 512 * 512;
const isSmall = ({ width, height }: Job<Asset>) => width && height && width * height <= QUARTER_MEGAPIXEL;

const fluxOffer: OfferSpec = {
  task: "image.generate",
  model: "flux-dev",
  upstreamModel: "black-forest-labs/flux-dev",
  recovery: "find",
  preference: 60,
  equivalence: "flux-dev",
  limits: { ratios: FLUX_RATIOS, images: 1, count: 4 },
  latency: "quick",
  parameters: declareParameters("image.generate", {
    honours: ["prompt", "images", "seed", "count"],
    adapts: {
      // With an input image, the result has its shape.
      width: unlessWith("images", asAspectRatio),
      height: unlessWith("images", asAspectRatio),
      aspect_ratio: unlessWith("images"),
      guidance: within({ least: 0, most: 10 }),
      steps: within({ least: 1, most: 50 }),
    },
    ignores: [
      ...LORA_PAIR_PARAMETERS,
      ...(["strength_model", "model_weight", "lora_1"] as const),
      ...(["negative_prompt", "cfg_scale", "scheduler", "upscale_factor"] as const),
    ],
    excludes: ["model_id"],
  }),
  supports: ({ options }) => options?.model_id === undefined,
  body: (job) => ({
    prompt: job.prompt,
    image: job.images?.[0],
    aspect_ratio: job.aspect_ratio,
    megapixels: isSmall(job) ? "0.25" : undefined,
    num_outputs: job.count,
    guidance: job.options?.guidance,
    num_inference_steps: job.options?.steps,
    seed: job.seed,
    // The fast mode ignores the seed.
    go_fast: job.seed === undefined ? undefined : false,
    output_format: "png",
  }),
};

const characterOffer: OfferSpec = {
  task: "image.character",
  model: "character-default",
  upstreamModel: "ideogram-ai/ideogram-character",
  recovery: "find",
  preference: 60,
  equivalence: "ideogram-character",
  limits: { ratios: CHARACTER_RATIOS, images: 2, count: 1 },
  parameters: declareParameters("image.character", {
    honours: ["prompt", "images", "mask", "aspect_ratio", "rendering_speed", "style_type", "magic_prompt_option"],
    adapts: { seed: seedBelow(2 ** 31) },
    ignores: ["resolution"],
  }),
  // The model supports a background image only together with a mask.
  supports: ({ images, mask }) => images?.length === (mask ? 2 : 1),
  body: ({ prompt, images: [reference, image] = [], mask, aspect_ratio, seed, options }) => ({
    prompt,
    character_reference_image: reference,
    image,
    // In this model's masks, black changes.
    mask: mask && convertedMask(mask, "inverted"),
    aspect_ratio,
    seed,
    rendering_speed: options?.rendering_speed,
    style_type: options?.style_type,
    magic_prompt_option: options?.magic_prompt_option,
  }),
};

export const REPLICATE_NOTATION: RowNotation = { recovery: "find", place: (file) => file };

export const replicateOffers: Offer[] = withPublishedPrices("replicate", [
  fluxOffer,
  ...rows.map((row) => offerFromRow(row, REPLICATE_NOTATION)),
  characterOffer,
]);
