// The offers of Replicate. Fields and limits are from the pages of the models; prices are only shown there, not in the
// API.

import { FLUX_KONTEXT_ASPECT_RATIOS } from "../../contract/models.ts";
import {
  CUSTOM_MODEL_PARAMETERS,
  FRAME_PARAMETERS,
  LORA_PAIR_PARAMETERS,
  SAMPLING_PARAMETERS,
  WEIGHT_PARAMETERS,
} from "../../contract/task-parameters.ts";
import { asAspectRatio, declareParameters, seedBelow, unlessWith, within } from "../parameter-support.ts";
import type { Offer } from "../provider.ts";
import { type OfferSpec, withPublishedPrices } from "../with-published-prices.ts";
import {
  character,
  fluxDev,
  kontextMulti,
  pickOptions,
  qwenEdit,
  replicateGptImageInput,
  replicateKontextInput,
  replicateNanoBananaInput,
} from "./inputs.ts";

const FLUX_RATIOS = ["1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21"];
const BANANA_RATIOS = [
  ...["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
  ...["1:4", "4:1", "1:8", "8:1"],
];
const CHARACTER_RATIOS = [
  ...["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "16:10", "10:16", "5:4", "4:5", "2:1", "1:2", "3:1", "1:3"],
];
const GEN4_RATIOS = ["16:9", "9:16", "4:3", "3:4", "1:1", "21:9"];
const PHOTON_RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"];

const NO_DIFFUSION = [...SAMPLING_PARAMETERS, ...WEIGHT_PARAMETERS, "negative_prompt", "upscale_factor"] as const;
const AS_RATIO = { width: asAspectRatio, height: asAspectRatio };
const KONTEXT_GENERATE = declareParameters("image.generate", {
  honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
  adapts: AS_RATIO,
  ignores: NO_DIFFUSION,
});
/** For models without a seed. */
const SEEDLESS_GENERATE = declareParameters("image.generate", {
  honours: ["prompt", "images", "aspect_ratio", "count"],
  adapts: AS_RATIO,
  ignores: [...NO_DIFFUSION, "seed"],
});
const KONTEXT_EDIT = declareParameters("image.edit", {
  honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
  excludes: ["mask"],
});
const SEEDLESS_EDIT = declareParameters("image.edit", {
  honours: ["prompt", "images", "aspect_ratio", "count"],
  ignores: ["seed"],
  excludes: ["mask"],
});

const offer = (spec: Omit<OfferSpec, "recovery">): OfferSpec => ({
  recovery: "find",
  preference: 60,
  ...spec,
});

const banana = (task: Offer["task"], model: string): OfferSpec =>
  offer({
    task,
    model,
    upstreamModel: "google/nano-banana-2",
    equivalence: "nano-banana",
    limits: { ratios: BANANA_RATIOS, images: 14, count: 1, mask: false },
    parameters: task === "image.edit" ? SEEDLESS_EDIT : SEEDLESS_GENERATE,
    body: replicateNanoBananaInput,
  });

const gpt = (task: Offer["task"]): OfferSpec =>
  offer({
    task,
    model: "vendora",
    upstreamModel: "openai/gpt-image-1.5",
    equivalence: "gpt-image",
    limits: { ratios: ["1:1", "3:2", "2:3"], images: 16, count: 10, mask: false },
    latency: "slow",
    parameters: task === "image.edit" ? SEEDLESS_EDIT : SEEDLESS_GENERATE,
    body: replicateGptImageInput,
  });

const kontextMax = (spec: Pick<Offer, "task" | "model"> & Partial<OfferSpec>): OfferSpec =>
  offer({
    upstreamModel: "black-forest-labs/flux-kontext-max",
    limits: { ratios: FLUX_KONTEXT_ASPECT_RATIOS, images: 1, count: 1, mask: false },
    parameters: spec.task === "image.edit" ? KONTEXT_EDIT : KONTEXT_GENERATE,
    body: replicateKontextInput,
    ...spec,
  });

const reframe = (model: string): OfferSpec =>
  offer({
    task: "image.reframe",
    model,
    upstreamModel: "luma/reframe-image",
    equivalence: model,
    limits: { ratios: PHOTON_RATIOS, images: 1, count: 1 },
    parameters: declareParameters("image.reframe", {
      honours: ["prompt", "images", "aspect_ratio", ...FRAME_PARAMETERS],
    }),
    body: ({ prompt, images, aspect_ratio, options }) => ({
      image: images?.[0],
      aspect_ratio,
      prompt,
      model,
      ...pickOptions(options, FRAME_PARAMETERS),
    }),
  });

export const replicateOffers: Offer[] = withPublishedPrices("replicate", [
  offer({
    task: "image.generate",
    model: "flux-dev",
    upstreamModel: "black-forest-labs/flux-dev",
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
    body: fluxDev,
  }),
  kontextMax({
    task: "image.generate",
    model: "flux-kontext-max",
    equivalence: "flux-kontext-max",
    preference: 50,
  }),
  kontextMax({ task: "image.edit", model: "flux-kontext-max", equivalence: "flux-kontext-max", preference: 50 }),
  kontextMax({ task: "image.edit", model: "edit-default" }),
  offer({
    task: "image.generate",
    model: "flux-kontext-multi",
    upstreamModel: "flux-kontext-apps/multi-image-kontext-max",
    equivalence: "flux-kontext-multi",
    limits: { ratios: FLUX_KONTEXT_ASPECT_RATIOS, images: 2, count: 1 },
    parameters: KONTEXT_GENERATE,
    supports: ({ images }) => images?.length === 2,
    body: kontextMulti,
  }),
  offer({
    task: "image.generate",
    model: "vendorb-imagen4",
    upstreamModel: "google/imagen-4",
    equivalence: "nano-banana",
    lifecycle: { state: "deprecated", successor: "google/nano-banana-2" },
    limits: { ratios: ["1:1", "16:9", "9:16", "4:3", "3:4"], images: 0, count: 1 },
    parameters: declareParameters("image.generate", {
      honours: ["prompt", "aspect_ratio", "count"],
      adapts: AS_RATIO,
      ignores: [...NO_DIFFUSION, "seed"],
      excludes: ["images"],
    }),
    body: ({ prompt, aspect_ratio }) => ({ prompt, aspect_ratio, output_format: "png" }),
  }),
  gpt("image.generate"),
  gpt("image.edit"),
  banana("image.generate", "nanobanana"),
  banana("image.edit", "nanobanana"),
  banana("image.generate", "gemini-2.5"),
  banana("image.edit", "gemini-2.5"),
  offer({
    task: "image.generate",
    model: "qwen-image-edit",
    upstreamModel: "qwen/qwen-image-edit-plus",
    equivalence: "qwen-image-edit",
    limits: { ratios: ["1:1", "16:9", "9:16", "4:3", "3:4"], images: 3, count: 1 },
    parameters: declareParameters("image.generate", {
      honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
      adapts: AS_RATIO,
      ignores: [
        ...SAMPLING_PARAMETERS,
        ...CUSTOM_MODEL_PARAMETERS,
        ...LORA_PAIR_PARAMETERS,
        ...(["negative_prompt", "upscale_factor"] as const),
      ],
      excludes: ["lora_1"],
    }),
    // The model only edits, so it needs an image. It supports no LoRA.
    supports: ({ images, options }) => (images?.length ?? 0) > 0 && options?.lora_1 === undefined,
    body: qwenEdit,
  }),
  offer({
    task: "image.character",
    model: "character-default",
    upstreamModel: "ideogram-ai/ideogram-character",
    equivalence: "ideogram-character",
    limits: { ratios: CHARACTER_RATIOS, images: 2, count: 1 },
    parameters: declareParameters("image.character", {
      honours: ["prompt", "images", "mask", "aspect_ratio", "rendering_speed", "style_type", "magic_prompt_option"],
      adapts: { seed: seedBelow(2 ** 31) },
      ignores: ["resolution"],
    }),
    // The model supports a background image only together with a mask.
    supports: ({ images, mask }) => images?.length === (mask ? 2 : 1),
    body: character,
  }),
  offer({
    task: "image.reference",
    model: "reference-default",
    upstreamModel: "runwayml/gen4-image",
    equivalence: "gen4-image",
    preference: 50,
    limits: { ratios: GEN4_RATIOS, images: 3, count: 1 },
    parameters: declareParameters("image.reference", {
      honours: ["prompt", "images", "tags", "aspect_ratio", "resolution"],
    }),
    body: ({ prompt, images, aspect_ratio, seed, options }) => ({
      prompt,
      reference_images: images,
      reference_tags: options?.tags,
      aspect_ratio,
      resolution: options?.resolution,
      seed,
    }),
  }),
  reframe("photon-1"),
  reframe("photon-flash-1"),
  offer({
    task: "image.remove-background",
    model: "remove-background-default",
    upstreamModel: "bria/remove-background",
    equivalence: "remove-background",
    limits: { images: 1, count: 1 },
    latency: "quick",
    parameters: declareParameters("image.remove-background", { honours: ["images"] }),
    body: ({ images }) => ({ image: images?.[0] }),
  }),
  offer({
    task: "image.remove",
    model: "remove-default",
    upstreamModel: "bria/eraser",
    equivalence: "object-removal",
    limits: { images: 1, count: 1 },
    // The model removes the masked area; it does not find objects by prompt.
    parameters: declareParameters("image.remove", {
      honours: ["images", "mask"],
      ignores: ["prompt", "remove_shadow", "multiple"],
    }),
    supports: ({ mask }) => mask !== undefined,
    body: ({ images, mask }) => ({ image: images?.[0], mask }),
  }),
  offer({
    task: "image.edit",
    model: "edit-default",
    upstreamModel: "bria/genfill",
    equivalence: "mask-fill",
    limits: { images: 1, count: 1 },
    parameters: declareParameters("image.edit", {
      honours: ["prompt", "images", "mask", "count"],
      ignores: ["aspect_ratio", "seed"],
    }),
    supports: ({ mask }) => mask !== undefined,
    body: ({ prompt, images, mask }) => ({ prompt, image: images?.[0], mask }),
  }),
  offer({
    task: "image.segment",
    model: "segment-default",
    upstreamModel: "mattsays/sam3-image:latest",
    equivalence: "text-segmentation",
    limits: { images: 1, count: 1 },
    latency: "slow",
    parameters: declareParameters("image.segment", { honours: ["prompt", "images", "count"], excludes: ["multiple"] }),
    // All found objects are in one mask.
    supports: ({ options }) => options?.multiple !== true,
    body: ({ prompt, images }) => ({ prompt, image: images?.[0], mask_only: true, return_zip: false }),
  }),
  offer({
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "google/upscaler",
    equivalence: "upscale",
    limits: { images: 1, count: 1 },
    parameters: declareParameters("image.upscale", { honours: ["images", "factor"] }),
    body: ({ images, options }) => ({ image: images?.[0], upscale_factor: `x${options?.factor ?? 2}` }),
  }),
  offer({
    task: "video.generate",
    model: "video-default",
    upstreamModel: "kwaivgi/kling-v2.1",
    limits: { durations: [5, 10], images: 1, count: 1 },
    latency: "slow",
    parameters: declareParameters("video.generate", {
      honours: ["prompt", "negative_prompt", "images", "duration"],
      ignores: ["aspect_ratio", "seed", "fps", "cfg_scale", "motion_bucket_id"],
    }),
    body: ({ prompt = "", negative_prompt, images, options }) => ({
      prompt,
      negative_prompt,
      start_image: images?.[0],
      duration: options?.duration,
    }),
  }),
]);
