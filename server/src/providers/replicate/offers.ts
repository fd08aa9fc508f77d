// The offers of Replicate. Fields and limits are from the pages of the models; prices are only shown there, not in the
// API.
import { FLUX_KONTEXT_ASPECT_RATIOS } from "../../models.ts";
import type { Offer } from "../provider.ts";
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
const POSITION_OPTIONS = ["grid_position_x", "grid_position_y", "x_start", "x_end", "y_start", "y_end"];

const offer = (spec: Omit<Offer, "recovery" | "price">): Offer => ({
  recovery: "find",
  price: null,
  preference: 60,
  ...spec,
});

const banana = (task: Offer["task"], model: string): Offer =>
  offer({
    task,
    model,
    upstreamModel: "google/nano-banana-2",
    equivalence: "nano-banana",
    limits: { ratios: BANANA_RATIOS, images: 14, count: 1, mask: false },
    supportedOptions: [],
    body: replicateNanoBananaInput,
  });

const gpt = (task: Offer["task"]): Offer =>
  offer({
    task,
    model: "vendora",
    upstreamModel: "openai/gpt-image-1.5",
    equivalence: "gpt-image",
    limits: { ratios: ["1:1", "3:2", "2:3"], images: 16, count: 10, mask: false },
    latency: "slow",
    supportedOptions: [],
    body: replicateGptImageInput,
  });

const kontextMax = (spec: Pick<Offer, "task" | "model"> & Partial<Offer>): Offer =>
  offer({
    upstreamModel: "black-forest-labs/flux-kontext-max",
    limits: { ratios: FLUX_KONTEXT_ASPECT_RATIOS, images: 1, count: 1, mask: false },
    supportedOptions: [],
    body: replicateKontextInput,
    ...spec,
  });

const reframe = (model: string): Offer =>
  offer({
    task: "image.reframe",
    model,
    upstreamModel: "luma/reframe-image",
    equivalence: model,
    limits: { ratios: PHOTON_RATIOS, images: 1, count: 1 },
    supportedOptions: POSITION_OPTIONS,
    body: ({ prompt, images, aspect_ratio, options }) => ({
      image: images?.[0],
      aspect_ratio,
      prompt,
      model,
      ...pickOptions(options, POSITION_OPTIONS),
    }),
  });

export const replicateOffers: Offer[] = [
  offer({
    task: "image.generate",
    model: "flux-dev",
    upstreamModel: "black-forest-labs/flux-dev",
    equivalence: "flux-dev",
    limits: { ratios: FLUX_RATIOS, images: 1, count: 4 },
    latency: "quick",
    supportedOptions: ["guidance", "steps"],
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
    supportedOptions: [],
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
    supportedOptions: [],
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
    supportedOptions: [],
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
    supportedOptions: ["rendering_speed", "style_type", "magic_prompt_option"],
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
    supportedOptions: ["tags", "resolution"],
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
    supportedOptions: [],
    body: ({ images }) => ({ image: images?.[0] }),
  }),
  offer({
    task: "image.remove",
    model: "remove-default",
    upstreamModel: "bria/eraser",
    equivalence: "object-removal",
    limits: { images: 1, count: 1 },
    supportedOptions: [],
    // The model removes the masked area; it does not find objects by prompt.
    supports: ({ mask }) => mask !== undefined,
    body: ({ images, mask }) => ({ image: images?.[0], mask }),
  }),
  offer({
    task: "image.edit",
    model: "edit-default",
    upstreamModel: "bria/genfill",
    equivalence: "mask-fill",
    limits: { images: 1, count: 1 },
    supportedOptions: [],
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
    supportedOptions: ["multiple"],
    // All found objects are in one mask.
    supports: ({ options }) => options?.multiple !== true,
    body: ({ prompt, images }) => ({ prompt, image: images?.[0], mask_only: true, return_zip: false }),
  }),
  offer({
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "google/upscaler",
    limits: { images: 1, count: 1 },
    supportedOptions: ["factor"],
    body: ({ images, options }) => ({ image: images?.[0], upscale_factor: `x${options?.factor ?? 2}` }),
  }),
  offer({
    task: "video.generate",
    model: "video-default",
    upstreamModel: "kwaivgi/kling-v2.1",
    per: "second",
    limits: { durations: [5, 10], images: 1, count: 1 },
    latency: "slow",
    supportedOptions: ["duration"],
    body: ({ prompt = "", negative_prompt, images, options }) => ({
      prompt,
      negative_prompt,
      start_image: images?.[0],
      duration: options?.duration,
    }),
  }),
];
