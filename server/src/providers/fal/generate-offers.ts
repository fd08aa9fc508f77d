// fal's endpoints for image generation.
import type { Job } from "../../contract/operation.ts";
import { LORA_PAIR_PARAMETERS, SAMPLING_PARAMETERS, WEIGHT_PARAMETERS } from "../../contract/task-parameters.ts";
import { asAspectRatio, asSize, byGesso, declareParameters, onlyWith, unlessWith } from "../parameter-support.ts";
import type { Asset, Offer } from "../provider.ts";
import type { OfferSpec } from "../with-published-prices.ts";
import { deferredImage, deferredImages, lora } from "./deferred-values.ts";
import {
  commonFields,
  falOffer,
  hasImages,
  hasNoImages,
  hasOption,
  imageSize,
  loras,
  option,
  resizeToJob,
} from "./fields.ts";

const task = "image.generate";

/** The model needs sides that are multiples of 16 pixels. */
const SIDES = { step: 16 } as const;
export const FAL_KONTEXT_RATIOS = ["21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"];
export const GPT_SIZES = ["1024x1024", "1536x1024", "1024x1536"];
export const NANO_RATIOS = [
  ...["21:9", "16:9", "3:2", "4:3", "5:4", "1:1", "4:5", "3:4", "2:3", "9:16", "4:1", "1:4", "8:1", "1:8"],
];
const IMAGEN_RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4"];

const hasModel = hasOption("model_id");
const isPlain: Offer["supports"] = (job) => !hasModel(job);

const AS_SIZE = { aspect_ratio: asSize } as const;
const AS_RATIO = { width: asAspectRatio, height: asAspectRatio } as const;

const flux = (job: Job<Asset>) => ({
  ...commonFields(job),
  guidance_scale: option(job, "guidance"),
  num_inference_steps: option(job, "steps"),
});
const fluxLora = (job: Job<Asset>) => ({
  ...flux(job),
  image_size: imageSize(job),
  loras: loras(
    option(job, "deployment_id") ?? option(job, "model_id"),
    option(job, "strength_model") ?? option(job, "model_weight"),
  ),
});
const FLUX = { task, model: "flux-dev", preference: 40, equivalence: "flux-dev" } as const;
const FLUX_HONOURED = ["prompt", "width", "height", "seed", "count", "guidance", "steps"] as const;
const FLUX_IGNORED = [
  ...LORA_PAIR_PARAMETERS,
  ...(["lora_1", "negative_prompt", "cfg_scale", "scheduler", "upscale_factor"] as const),
] as const;
const PLAIN_IGNORED = [...FLUX_IGNORED, "strength_model", "model_weight"] as const;
const LORA_HONOURED = [...FLUX_HONOURED, "model_id", "strength_model"] as const;
const LORA_ADAPTED = { ...AS_SIZE, model_weight: unlessWith("strength_model") } as const;

const fluxOffers = [
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux/dev",
    limits: { sides: SIDES, count: 4, mask: false },
    latency: "quick",
    parameters: declareParameters(task, {
      honours: FLUX_HONOURED,
      adapts: AS_SIZE,
      ignores: PLAIN_IGNORED,
      excludes: ["images", "model_id"],
    }),
    supports: (job) => hasNoImages(job) && isPlain(job),
    body: (job) => ({ ...flux(job), image_size: imageSize(job) }),
  }),
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux/dev/image-to-image",
    limits: { sides: SIDES, count: 4, images: 1, mask: false },
    latency: "quick",
    parameters: declareParameters(task, {
      honours: [...FLUX_HONOURED, "images"],
      adapts: AS_SIZE,
      ignores: PLAIN_IGNORED,
      excludes: ["model_id"],
    }),
    supports: (job) => hasImages(job) && isPlain(job),
    body: (job) => ({ ...flux(job), image_url: deferredImage(resizeToJob(job.images?.[0], job)) }),
  }),
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux-lora",
    limits: { sides: SIDES, count: 4, mask: false },
    parameters: declareParameters(task, {
      honours: LORA_HONOURED,
      adapts: LORA_ADAPTED,
      ignores: FLUX_IGNORED,
      excludes: ["images"],
    }),
    supports: (job) => hasNoImages(job) && hasModel(job),
    body: fluxLora,
  }),
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux-lora/image-to-image",
    limits: { sides: SIDES, count: 4, images: 1, mask: false },
    parameters: declareParameters(task, {
      honours: [...LORA_HONOURED, "images"],
      adapts: LORA_ADAPTED,
      ignores: FLUX_IGNORED,
    }),
    supports: (job) => hasImages(job) && hasModel(job),
    body: (job) => ({ ...fluxLora(job), image_url: deferredImage(job.images?.[0]) }),
  }),
];

export const falKontextBody = (job: Job<Asset>) => ({
  ...commonFields(job),
  aspect_ratio: job.aspect_ratio,
  guidance_scale: option(job, "guidance"),
});
const KONTEXT_HONOURED = ["prompt", "aspect_ratio", "seed", "count", "guidance"] as const;
const KONTEXT_IGNORED = [
  ...WEIGHT_PARAMETERS,
  ...(["negative_prompt", "steps", "cfg_scale", "scheduler", "upscale_factor"] as const),
] as const;
const KONTEXT_WITH_IMAGES = declareParameters(task, {
  honours: [...KONTEXT_HONOURED, "images"],
  adapts: AS_RATIO,
  ignores: KONTEXT_IGNORED,
});
const KONTEXT = { task, model: "flux-kontext-max", preference: 60, equivalence: "flux-kontext-max" } as const;

const kontextOffers = [
  falOffer({
    ...KONTEXT,
    upstreamModel: "fal-ai/flux-pro/kontext/max/text-to-image",
    limits: { ratios: FAL_KONTEXT_RATIOS, count: 4, mask: false },
    parameters: declareParameters(task, {
      honours: KONTEXT_HONOURED,
      adapts: AS_RATIO,
      ignores: KONTEXT_IGNORED,
      excludes: ["images"],
    }),
    supports: hasNoImages,
    body: falKontextBody,
  }),
  falOffer({
    ...KONTEXT,
    upstreamModel: "fal-ai/flux-pro/kontext/max",
    limits: { ratios: FAL_KONTEXT_RATIOS, count: 4, images: 1, mask: false },
    parameters: KONTEXT_WITH_IMAGES,
    supports: hasImages,
    body: (job) => ({ ...falKontextBody(job), image_url: deferredImage(job.images?.[0]) }),
  }),
  falOffer({
    task,
    model: "flux-kontext-multi",
    upstreamModel: "fal-ai/flux-pro/kontext/max/multi",
    preference: 40,
    equivalence: "flux-kontext-multi",
    limits: { ratios: FAL_KONTEXT_RATIOS, count: 4, images: 4, mask: false },
    parameters: KONTEXT_WITH_IMAGES,
    supports: hasImages,
    body: (job) => ({ ...falKontextBody(job), image_urls: deferredImages(job.images) }),
  }),
];

export const falGptImageBody = (job: Job<Asset>) => ({
  prompt: job.prompt,
  num_images: job.count,
  image_size: job.width && job.height ? `${job.width}x${job.height}` : undefined,
  output_format: "png",
});
const GPT = { task, model: "vendora", preference: 50, equivalence: "gpt-image" } as const;

const NO_DIFFUSION = [...SAMPLING_PARAMETERS, ...WEIGHT_PARAMETERS, "negative_prompt", "upscale_factor"] as const;
/** The model has no seed. */
const GPT_IGNORED = [...NO_DIFFUSION, "seed"] as const;

const gptOffers = [
  falOffer({
    ...GPT,
    upstreamModel: "fal-ai/gpt-image-1.5",
    limits: { sizes: GPT_SIZES, count: 4, mask: false },
    parameters: declareParameters(task, {
      honours: ["prompt", "width", "height", "count"],
      adapts: AS_SIZE,
      ignores: GPT_IGNORED,
      excludes: ["images"],
    }),
    supports: hasNoImages,
    body: falGptImageBody,
  }),
  falOffer({
    ...GPT,
    upstreamModel: "fal-ai/gpt-image-1.5/edit",
    limits: { sizes: GPT_SIZES, count: 4, mask: false },
    parameters: declareParameters(task, {
      honours: ["prompt", "images", "width", "height", "count"],
      adapts: AS_SIZE,
      ignores: GPT_IGNORED,
    }),
    supports: hasImages,
    body: (job) => ({ ...falGptImageBody(job), image_urls: deferredImages(job.images) }),
  }),
];

export const falNanoBananaBody = (job: Job<Asset>) => ({ ...commonFields(job), aspect_ratio: job.aspect_ratio });
const NANO = { task, preference: 50, equivalence: "nano-banana" } as const;
const NANO_WITHOUT_IMAGES = declareParameters(task, {
  honours: ["prompt", "aspect_ratio", "seed", "count"],
  adapts: AS_RATIO,
  ignores: NO_DIFFUSION,
  excludes: ["images"],
});
const NANO_WITH_IMAGES = declareParameters(task, {
  honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
  adapts: AS_RATIO,
  ignores: NO_DIFFUSION,
});

const nanoOffers = ["nanobanana", "gemini-2.5", "vendorb-imagen4"].flatMap((model) => [
  falOffer({
    ...NANO,
    model,
    upstreamModel: "fal-ai/nano-banana-2",
    limits: { ratios: NANO_RATIOS, count: 4, mask: false },
    parameters: NANO_WITHOUT_IMAGES,
    supports: hasNoImages,
    body: falNanoBananaBody,
  }),
  falOffer({
    ...NANO,
    model,
    upstreamModel: "fal-ai/nano-banana-2/edit",
    limits: { ratios: NANO_RATIOS, count: 4, images: 14, mask: false },
    parameters: NANO_WITH_IMAGES,
    supports: hasImages,
    body: (job) => ({
      ...falNanoBananaBody(job),
      // A reference image of this model is a style reference.
      ...(model === "vendorb-imagen4" && { prompt: `${job.prompt}\nIn the style of the reference image.` }),
      image_urls: deferredImages(job.images),
    }),
  }),
]);

const imagenOffer = falOffer({
  task,
  model: "vendorb-imagen4",
  upstreamModel: "fal-ai/imagen4/preview",
  preference: 60,
  lifecycle: { state: "deprecated", successor: "fal-ai/nano-banana-2" },
  limits: { ratios: IMAGEN_RATIOS, count: 4, mask: false },
  parameters: NANO_WITHOUT_IMAGES,
  supports: hasNoImages,
  body: falNanoBananaBody,
});

const sampling = (job: Job<Asset>) => ({
  negative_prompt: job.negative_prompt,
  guidance_scale: option(job, "cfg_scale") ?? option(job, "guidance"),
  num_inference_steps: option(job, "steps"),
});
const SAMPLED = ["prompt", "negative_prompt", "width", "height", "seed", "count", "cfg_scale", "steps"] as const;
/** The endpoints have one field for both kinds of guidance. */
const SAMPLED_ADAPTED = { ...AS_SIZE, guidance: unlessWith("cfg_scale") } as const;

const wanOffer = falOffer({
  task,
  model: "wan-image-2.2",
  upstreamModel: "fal-ai/wan/v2.2-a14b/text-to-image/lora",
  preference: 50,
  equivalence: "wan-2.2",
  limits: { sides: SIDES, count: 1, images: 0, mask: false },
  parameters: declareParameters(task, {
    honours: [...SAMPLED, ...LORA_PAIR_PARAMETERS],
    adapts: {
      ...SAMPLED_ADAPTED,
      model_id: byGesso("Gesso checks access and adds the trigger word; the LoRA names select the files"),
    },
    ignores: ["scheduler", "strength_model", "model_weight", "lora_1", "upscale_factor"],
    excludes: ["images"],
  }),
  body: (job) => ({
    prompt: job.prompt,
    ...sampling(job),
    image_size: imageSize(job),
    seed: job.seed,
    image_format: "png",
    loras: ["high", "low"].flatMap((half) => {
      const name = option(job, `lora_${half}_name`);
      const scale = option(job, `lora_${half}_strength`);
      return name === undefined ? [] : [{ path: lora(name), scale, transformer: half }];
    }),
  }),
});

const QWEN = { task, model: "qwen-image-edit", preference: 50, equivalence: "qwen-image-edit" } as const;
const qwen = (job: Job<Asset>) => ({
  ...commonFields(job),
  ...sampling(job),
  image_size: imageSize(job),
  loras: loras(option(job, "lora_1"), option(job, "strength_model")),
});
const QWEN_ADAPTED = { ...SAMPLED_ADAPTED, strength_model: onlyWith("lora_1") } as const;
const QWEN_IGNORED = [...LORA_PAIR_PARAMETERS, "scheduler", "model_id", "model_weight", "upscale_factor"] as const;

const qwenOffers = [
  falOffer({
    ...QWEN,
    upstreamModel: "fal-ai/qwen-image-edit-lora",
    limits: { sides: SIDES, count: 4, images: 1, mask: false },
    parameters: declareParameters(task, {
      honours: [...SAMPLED, "images", "lora_1"],
      adapts: QWEN_ADAPTED,
      ignores: QWEN_IGNORED,
    }),
    supports: hasImages,
    body: (job) => ({ ...qwen(job), image_url: deferredImage(job.images?.[0]) }),
  }),
  falOffer({
    ...QWEN,
    upstreamModel: "fal-ai/qwen-image",
    limits: { sides: SIDES, count: 4, mask: false },
    parameters: declareParameters(task, {
      honours: [...SAMPLED, "lora_1"],
      adapts: QWEN_ADAPTED,
      ignores: QWEN_IGNORED,
      excludes: ["images"],
    }),
    supports: hasNoImages,
    body: qwen,
  }),
];

export const generateOffers: OfferSpec[] = [
  ...fluxOffers,
  ...kontextOffers,
  ...gptOffers,
  ...nanoOffers,
  imagenOffer,
  wanOffer,
  ...qwenOffers,
];
