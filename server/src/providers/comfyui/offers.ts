// What ComfyUI servers are asked for: each offer is a graph by its name. The work costs nobody but its owner anything.
import type { Offer } from "../provider.ts";

const SAMPLING = ["steps", "cfg_scale", "guidance", "scheduler"];
const OWN_MODEL = ["model_id", "deployment_id", "strength_model", "model_weight"];
const SIDES = { least: 64, most: 2048, step: 16 };

/** More pictures in one graph than this would not fit into the memory of usual cards. */
const BATCH = 4;

const offer = (about: Pick<Offer, "task" | "model" | "upstreamModel"> & Partial<Offer>): Offer => ({
  recovery: "find",
  price: 0,
  latency: "usual",
  ...about,
});

const isOwnModel = ({ options = {} }: { options?: Record<string, unknown> | undefined }) =>
  (options.deployment_id ?? options.model_id) !== undefined;

/** FLUX is had in many places. A LoRA that lies on our own servers is at home here, so with one they come earlier. */
const flux = (upstreamModel: string, { hasImages, hasLora }: { hasImages: boolean; hasLora: boolean }): Offer =>
  offer({
    task: "image.generate",
    model: "flux-dev",
    upstreamModel,
    preference: hasLora ? 50 : 60,
    equivalence: "flux-dev",
    limits: { sides: SIDES, count: BATCH, images: hasImages ? 1 : 0, mask: false },
    supportedOptions: [...SAMPLING, ...OWN_MODEL, "upscale_factor"],
    supports: (job) => (job.images?.length ?? 0) > 0 === hasImages && isOwnModel(job) === hasLora,
  });

export const comfyuiOffers: Offer[] = [
  flux("flux-dev", { hasImages: false, hasLora: false }),
  flux("flux-dev-lora", { hasImages: false, hasLora: true }),
  flux("flux-dev-image", { hasImages: true, hasLora: false }),
  flux("flux-dev-image-lora", { hasImages: true, hasLora: true }),
  offer({
    task: "image.generate",
    model: "wan-image-2.1",
    upstreamModel: "wan-image-2.1",
    preference: 40,
    limits: { sides: SIDES, count: BATCH, images: 0, mask: false },
    supportedOptions: [...SAMPLING, ...OWN_MODEL],
  }),
  offer({
    task: "image.generate",
    model: "wan-image-2.2",
    upstreamModel: "wan-image-2.2",
    preference: 40,
    equivalence: "wan-2.2",
    limits: { sides: SIDES, count: BATCH, images: 0, mask: false },
    // Callers must name a model of theirs here; its two halves are what is loaded.
    supportedOptions: [
      ...SAMPLING,
      ...["model_id", "deployment_id"],
      ...["lora_high_name", "lora_high_strength", "lora_low_name", "lora_low_strength"],
    ],
  }),
  offer({
    task: "image.generate",
    model: "qwen-image-edit",
    upstreamModel: "qwen-image-edit",
    preference: 40,
    equivalence: "qwen-image-edit",
    limits: { sides: SIDES, count: BATCH, images: 1, mask: false },
    supportedOptions: [...SAMPLING, "lora_1", "strength_model"],
  }),
  offer({
    task: "video.generate",
    model: "video-default",
    upstreamModel: "wan-video-2.2",
    preference: 60,
    latency: "slow",
    limits: { duration: { least: 1, most: 5 }, images: 1, count: 1 },
    supportedOptions: ["duration", "fps", "cfg_scale"],
  }),
];
