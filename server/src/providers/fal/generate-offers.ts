// fal's endpoints for image generation.
import type { Job } from "../../kit/operation.ts";
import type { Asset, Offer } from "../provider.ts";
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

const FLUX_OPTIONS = ["guidance", "steps"];
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
const FLUX = { task, model: "flux-dev", preference: 40, equivalence: "flux-dev", per: "megapixel" } as const;
const LORA_OPTIONS = [...FLUX_OPTIONS, "model_id", "strength_model", "model_weight"];

const fluxOffers = [
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux/dev",
    price: 0.025,
    limits: { sides: SIDES, count: 4, mask: false },
    latency: "quick",
    supportedOptions: FLUX_OPTIONS,
    supports: (job) => hasNoImages(job) && isPlain(job),
    body: (job) => ({ ...flux(job), image_size: imageSize(job) }),
  }),
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux/dev/image-to-image",
    limits: { sides: SIDES, count: 4, images: 1, mask: false },
    latency: "quick",
    supportedOptions: FLUX_OPTIONS,
    supports: (job) => hasImages(job) && isPlain(job),
    body: (job) => ({ ...flux(job), image_url: deferredImage(resizeToJob(job.images?.[0], job)) }),
  }),
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux-lora",
    price: 0.035,
    limits: { sides: SIDES, count: 4, mask: false },
    supportedOptions: LORA_OPTIONS,
    supports: (job) => hasNoImages(job) && hasModel(job),
    body: fluxLora,
  }),
  falOffer({
    ...FLUX,
    upstreamModel: "fal-ai/flux-lora/image-to-image",
    limits: { sides: SIDES, count: 4, images: 1, mask: false },
    supportedOptions: LORA_OPTIONS,
    supports: (job) => hasImages(job) && hasModel(job),
    body: (job) => ({ ...fluxLora(job), image_url: deferredImage(job.images?.[0]) }),
  }),
];

export const falKontextBody = (job: Job<Asset>) => ({
  ...commonFields(job),
  aspect_ratio: job.aspect_ratio,
  guidance_scale: option(job, "guidance"),
});
const KONTEXT_OPTIONS = ["guidance"];
const KONTEXT = { task, model: "flux-kontext-max", preference: 60, equivalence: "flux-kontext-max" } as const;

const kontextOffers = [
  falOffer({
    ...KONTEXT,
    upstreamModel: "fal-ai/flux-pro/kontext/max/text-to-image",
    limits: { ratios: FAL_KONTEXT_RATIOS, count: 4, mask: false },
    supportedOptions: KONTEXT_OPTIONS,
    supports: hasNoImages,
    body: falKontextBody,
  }),
  falOffer({
    ...KONTEXT,
    upstreamModel: "fal-ai/flux-pro/kontext/max",
    limits: { ratios: FAL_KONTEXT_RATIOS, count: 4, images: 1, mask: false },
    supportedOptions: KONTEXT_OPTIONS,
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
    supportedOptions: KONTEXT_OPTIONS,
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
/** Price of a square image at default quality. */
const GPT = { task, model: "vendora", preference: 50, equivalence: "gpt-image", price: 0.133 } as const;

const gptOffers = [
  falOffer({
    ...GPT,
    upstreamModel: "fal-ai/gpt-image-1.5",
    limits: { sizes: GPT_SIZES, count: 4, mask: false },
    supportedOptions: [],
    supports: hasNoImages,
    body: falGptImageBody,
  }),
  falOffer({
    ...GPT,
    upstreamModel: "fal-ai/gpt-image-1.5/edit",
    limits: { sizes: GPT_SIZES, count: 4, mask: false },
    supportedOptions: [],
    supports: hasImages,
    body: (job) => ({ ...falGptImageBody(job), image_urls: deferredImages(job.images) }),
  }),
];

export const falNanoBananaBody = (job: Job<Asset>) => ({ ...commonFields(job), aspect_ratio: job.aspect_ratio });
const NANO = { task, preference: 50, equivalence: "nano-banana", price: 0.08, supportedOptions: [] } as const;

const nanoOffers = ["nanobanana", "gemini-2.5", "vendorb-imagen4"].flatMap((model) => [
  falOffer({
    ...NANO,
    model,
    upstreamModel: "fal-ai/nano-banana-2",
    limits: { ratios: NANO_RATIOS, count: 4, mask: false },
    supports: hasNoImages,
    body: falNanoBananaBody,
  }),
  falOffer({
    ...NANO,
    model,
    upstreamModel: "fal-ai/nano-banana-2/edit",
    limits: { ratios: NANO_RATIOS, count: 4, images: 14, mask: false },
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
  supportedOptions: [],
  supports: hasNoImages,
  body: falNanoBananaBody,
});

const sampling = (job: Job<Asset>) => ({
  negative_prompt: job.negative_prompt,
  guidance_scale: option(job, "cfg_scale") ?? option(job, "guidance"),
  num_inference_steps: option(job, "steps"),
});
const SAMPLING_OPTIONS = ["cfg_scale", "guidance", "steps"];

const wanOffer = falOffer({
  task,
  model: "wan-image-2.2",
  upstreamModel: "fal-ai/wan/v2.2-a14b/text-to-image/lora",
  preference: 50,
  equivalence: "wan-2.2",
  limits: { sides: SIDES, count: 1, images: 0, mask: false },
  supportedOptions: [...SAMPLING_OPTIONS, "lora_low_name", "lora_high_name", "lora_low_strength", "lora_high_strength"],
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
const QWEN_OPTIONS = [...SAMPLING_OPTIONS, "lora_1", "strength_model"];

const qwenOffers = [
  falOffer({
    ...QWEN,
    upstreamModel: "fal-ai/qwen-image-edit-lora",
    limits: { sides: SIDES, count: 4, images: 1, mask: false },
    supportedOptions: QWEN_OPTIONS,
    supports: hasImages,
    body: (job) => ({ ...qwen(job), image_url: deferredImage(job.images?.[0]) }),
  }),
  falOffer({
    ...QWEN,
    upstreamModel: "fal-ai/qwen-image",
    price: 0.02,
    per: "megapixel",
    limits: { sides: SIDES, count: 4, mask: false },
    supportedOptions: QWEN_OPTIONS,
    supports: hasNoImages,
    body: qwen,
  }),
];

export const generateOffers: Offer[] = [
  ...fluxOffers,
  ...kontextOffers,
  ...gptOffers,
  ...nanoOffers,
  imagenOffer,
  wanOffer,
  ...qwenOffers,
];
