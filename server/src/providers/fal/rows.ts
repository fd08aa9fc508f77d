// fal's endpoints whose requests only rename, leave out and add fields, one row per offer. offers.ts and
// character-offers.ts have those that need more than a row can say.
import { FRAME_PARAMETERS } from "../../contract/task-parameters.ts";
import type { OfferRow } from "../offer-row.ts";

const KONTEXT_MAX = "fal-ai/flux-pro/kontext/max";
const KONTEXT_RATIOS = ["21:9", "16:9", "4:3", "3:2", "1:1", "2:3", "3:4", "9:16", "9:21"];
const GPT_SIDES = { most: 3840, step: 16, leastPixels: 655_360, mostPixels: 8_294_400, mostRatio: 3 };
const GPT_15_SIZES = ["1024x1024", "1536x1024", "1024x1536"];
export const NANO_RATIOS = [
  ...["21:9", "16:9", "3:2", "4:3", "5:4", "1:1", "4:5", "3:4", "2:3", "9:16", "4:1", "1:4", "8:1", "1:8"],
];
/** The model takes a name and an aspect ratio instead of a size. */
export const NANO_RESOLUTIONS = { "1K": 1024 * 1024, "2K": 2048 * 2048, "4K": 4096 * 4096 };
const IMAGEN_RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4"];
const REFRAME_RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"];

/** The default format of most endpoints is JPEG. */
const constants = { output_format: "png" };
const COMMON = { prompt: "prompt", count: "num_images", seed: "seed" } as const;
const SHAPED = { ...COMMON, aspect_ratio: "aspect_ratio" } as const;
const SIZED = { size: { field: "image_size", as: "object" } } as const;

const DIFFUSION = { ...COMMON, guidance: "guidance_scale", steps: "num_inference_steps" } as const;
const LORA = { field: "loras", list: [{ name: "model_id", scale: ["strength_model", "model_weight"] }] } as const;
const FLUX = {
  task: "image.generate",
  model: "flux-dev",
  preference: 40,
  equivalence: "flux-dev",
  // The model needs sides that are multiples of 16 pixels.
  limits: { sides: { step: 16 }, count: 4 },
  constants,
} as const;

const flux: OfferRow[] = [
  {
    ...FLUX,
    upstreamModel: "fal-ai/flux/dev",
    latency: "quick",
    fields: { ...DIFFUSION, ...SIZED },
    without: ["model_id"],
  },
  {
    ...FLUX,
    upstreamModel: "fal-ai/flux/dev/image-to-image",
    latency: "quick",
    fields: { ...DIFFUSION, images: { field: "image_url", resized: true } },
    leastImages: 1,
    without: ["model_id"],
  },
  {
    ...FLUX,
    upstreamModel: "fal-ai/flux-lora",
    fields: { ...DIFFUSION, ...SIZED, loras: LORA },
    needs: ["model_id"],
  },
  {
    ...FLUX,
    upstreamModel: "fal-ai/flux-lora/image-to-image",
    fields: { ...DIFFUSION, ...SIZED, loras: LORA, images: "image_url" },
    leastImages: 1,
    needs: ["model_id"],
  },
];

const KONTEXT = {
  task: "image.generate",
  model: "flux-kontext-max",
  preference: 60,
  equivalence: "flux-kontext-max",
  limits: { ratios: KONTEXT_RATIOS, count: 4 },
  constants,
} as const;
const KONTEXT_EDIT = {
  ...KONTEXT,
  task: "image.edit",
  upstreamModel: KONTEXT_MAX,
  fields: { ...SHAPED, images: "image_url" },
} as const;
const KONTEXT_FIELDS = { ...SHAPED, guidance: "guidance_scale" } as const;

const kontext: OfferRow[] = [
  { ...KONTEXT, upstreamModel: `${KONTEXT_MAX}/text-to-image`, fields: KONTEXT_FIELDS },
  { ...KONTEXT, upstreamModel: KONTEXT_MAX, fields: { ...KONTEXT_FIELDS, images: "image_url" }, leastImages: 1 },
  {
    ...KONTEXT,
    model: "flux-kontext-multi",
    preference: 40,
    equivalence: "flux-kontext-multi",
    upstreamModel: `${KONTEXT_MAX}/multi`,
    limits: { ...KONTEXT.limits, images: 4 },
    fields: { ...KONTEXT_FIELDS, images: "image_urls[]" },
    leastImages: 1,
  },
  KONTEXT_EDIT,
  { ...KONTEXT_EDIT, model: "edit-default", preference: 50, equivalence: undefined },
];

/** `quality` is high unless it is sent; it is, so that the price does not depend on fal's default. */
const GPT = {
  task: "image.generate",
  model: "vendora",
  preference: 50,
  equivalence: "gpt-image",
  limits: { sides: GPT_SIDES, images: 16, count: 4, prompt: 32_000 },
  constants: { ...constants, quality: "high" },
} as const;
/** Another model, so it never takes over a job of the one above. */
const GPT_15 = {
  ...GPT,
  preference: 60,
  equivalence: "gpt-image-1.5",
  limits: { sizes: GPT_15_SIZES, count: 4 },
  lifecycle: { state: "deprecated", successor: "openai/gpt-image-2.5/flare/text-to-image" },
  constants,
} as const;
/** The models have no seed. */
const GPT_FIELDS = { prompt: "prompt", count: "num_images", ...SIZED } as const;
const GPT_15_FIELDS = { ...GPT_FIELDS, size: { field: "image_size", as: "text" } } as const;
const GPT_IMAGES = { field: "image_urls[]", maskedFirst: true } as const;

const gpt: OfferRow[] = [
  { ...GPT, upstreamModel: "openai/gpt-image-2.5/flare/text-to-image", fields: GPT_FIELDS },
  {
    ...GPT,
    upstreamModel: "openai/gpt-image-2.5/flare/edit",
    fields: { ...GPT_FIELDS, images: "image_urls[]" },
    leastImages: 1,
  },
  {
    ...GPT,
    task: "image.edit",
    upstreamModel: "openai/gpt-image-2.5/flare/edit",
    fields: { ...GPT_FIELDS, images: GPT_IMAGES, mask: { field: "mask_url", form: "transparent" } },
  },
  { ...GPT_15, upstreamModel: "fal-ai/gpt-image-1.5", fields: GPT_15_FIELDS },
  {
    ...GPT_15,
    upstreamModel: "fal-ai/gpt-image-1.5/edit",
    fields: { ...GPT_15_FIELDS, images: "image_urls[]" },
    leastImages: 1,
  },
  {
    ...GPT_15,
    task: "image.edit",
    upstreamModel: "fal-ai/gpt-image-1.5/edit",
    fields: { ...GPT_15_FIELDS, images: GPT_IMAGES, mask: { field: "mask_image_url", form: "transparent" } },
  },
];

const NANO = {
  task: "image.generate",
  preference: 50,
  equivalence: "nano-banana",
  limits: { ratios: NANO_RATIOS, resolutions: NANO_RESOLUTIONS, count: 1 },
  constants,
} as const;
const NANO_EDIT = {
  ...NANO,
  upstreamModel: "google/nano-banana-2.1/edit",
  limits: { ...NANO.limits, images: 14 },
} as const;
const NANO_FIELDS = {
  prompt: "prompt",
  seed: "seed",
  aspect_ratio: "aspect_ratio",
  resolution: "resolution",
} as const;
const WITH_IMAGES = { ...NANO_FIELDS, images: "image_urls[]" } as const;
/** A reference image of Imagen is a style reference. */
const STYLED = {
  ...WITH_IMAGES,
  prompt: { field: "prompt", suffix: "\nIn the style of the reference image." },
} as const;

/** Google ended these models. Their offers are left for jobs of the past, and name the successor. */
const ENDED = { preference: 60, limits: { ratios: NANO_RATIOS, count: 4 }, constants } as const;
const NANO_2_ENDED = { state: "retired", since: "2026-10-29", successor: "google/nano-banana-2.1" } as const;

const nano: OfferRow[] = [
  ...["nanobanana", "gemini-2.5", "vendorb-imagen4"].flatMap((model): OfferRow[] => [
    { ...NANO, model, upstreamModel: "google/nano-banana-2.1", fields: NANO_FIELDS },
    { ...NANO_EDIT, model, fields: model === "vendorb-imagen4" ? STYLED : WITH_IMAGES, leastImages: 1 },
  ]),
  { ...NANO_EDIT, task: "image.edit", model: "nanobanana", fields: WITH_IMAGES },
  {
    ...ENDED,
    task: "image.generate",
    model: "nanobanana",
    upstreamModel: "fal-ai/nano-banana-2",
    lifecycle: NANO_2_ENDED,
    fields: SHAPED,
  },
  {
    ...ENDED,
    task: "image.edit",
    model: "nanobanana",
    upstreamModel: "fal-ai/nano-banana-2/edit",
    lifecycle: { ...NANO_2_ENDED, successor: "google/nano-banana-2.1/edit" },
    limits: { ...ENDED.limits, images: 14 },
    fields: { ...SHAPED, images: "image_urls[]" },
  },
  {
    ...ENDED,
    task: "image.generate",
    model: "vendorb-imagen4",
    upstreamModel: "fal-ai/imagen4/preview",
    lifecycle: { state: "retired", since: "2026-08-17", successor: "google/nano-banana-2.1" },
    limits: { ratios: IMAGEN_RATIOS, count: 4 },
    fields: SHAPED,
  },
];

const SAMPLED = {
  prompt: "prompt",
  negative_prompt: "negative_prompt",
  seed: "seed",
  steps: "num_inference_steps",
  // The endpoints have one field for both kinds of guidance.
  cfg_scale: "guidance_scale",
  guidance: { field: "guidance_scale", unless: "cfg_scale" },
  ...SIZED,
} as const;
const QWEN = {
  task: "image.generate",
  model: "qwen-image-edit",
  preference: 50,
  equivalence: "qwen-image-edit",
  limits: { sides: { step: 16 }, count: 4 },
  constants,
} as const;
const QWEN_FIELDS = {
  ...SAMPLED,
  count: "num_images",
  loras: { field: "loras", list: [{ name: "lora_1", scale: ["strength_model"] }] },
} as const;

const sampled: OfferRow[] = [
  {
    task: "image.generate",
    model: "wan-image-2.2",
    upstreamModel: "fal-ai/wan/v2.2-a14b/text-to-image/lora",
    preference: 50,
    equivalence: "wan-2.2",
    limits: { sides: { step: 16 }, count: 1 },
    fields: {
      ...SAMPLED,
      loras: {
        field: "loras",
        list: [
          { name: "lora_high_name", scale: ["lora_high_strength"], constants: { transformer: "high" } },
          { name: "lora_low_name", scale: ["lora_low_strength"], constants: { transformer: "low" } },
        ],
      },
    },
    constants: { image_format: "png" },
    byGesso: { model_id: "Gesso checks access and adds the trigger word; the LoRA names select the files" },
  },
  {
    ...QWEN,
    upstreamModel: "fal-ai/qwen-image-edit-lora",
    fields: { ...QWEN_FIELDS, images: "image_url" },
    leastImages: 1,
  },
  { ...QWEN, upstreamModel: "fal-ai/qwen-image", fields: QWEN_FIELDS },
];

/** Erasers remove the masked area; they do not find objects. */
const ERASER = {
  task: "image.remove",
  model: "remove-default",
  equivalence: "object-removal",
  limits: { count: 1 },
  needs: ["mask"],
  fields: { images: "image_url", mask: "mask_url" },
} as const;
const REFRAME = {
  task: "image.reframe",
  preference: 40,
  limits: { ratios: REFRAME_RATIOS, count: 1 },
  fields: {
    prompt: "prompt",
    aspect_ratio: "aspect_ratio",
    images: "image_url",
    ...Object.fromEntries(FRAME_PARAMETERS.map((name) => [name, name])),
  },
} as const;

const tools: OfferRow[] = [
  {
    task: "image.edit",
    model: "edit-default",
    upstreamModel: "fal-ai/flux-pro/v1/fill",
    preference: 40,
    equivalence: "mask-fill",
    limits: { count: 4 },
    needs: ["mask"],
    fields: { ...COMMON, images: "image_url", mask: "mask_url" },
    constants,
  },
  { ...ERASER, upstreamModel: "fal-ai/flux-pro/v1/erase", preference: 40 },
  { ...ERASER, upstreamModel: "fal-ai/bria/eraser", preference: 50 },
  { ...REFRAME, model: "photon-1", upstreamModel: "fal-ai/luma-photon/reframe", equivalence: "photon-1" },
  {
    ...REFRAME,
    model: "photon-flash-1",
    upstreamModel: "fal-ai/luma-photon/flash/reframe",
    equivalence: "photon-flash-1",
  },
  {
    task: "image.segment",
    model: "segment-default",
    upstreamModel: "fal-ai/evf-sam",
    preference: 50,
    latency: "quick",
    equivalence: "text-segmentation",
    limits: { count: 1 },
    without: ["multiple"],
    fields: { prompt: { field: "prompt", default: "" }, images: "image_url" },
    constants: { mask_only: true },
  },
  {
    task: "image.remove-background",
    model: "remove-background-default",
    upstreamModel: "fal-ai/birefnet/v2",
    preference: 40,
    latency: "quick",
    equivalence: "remove-background",
    limits: { count: 1 },
    fields: { images: "image_url" },
    constants: { model: "General Use (Heavy)", ...constants },
  },
  {
    task: "image.upscale",
    model: "upscale-default",
    upstreamModel: "fal-ai/esrgan",
    preference: 40,
    latency: "quick",
    equivalence: "upscale",
    limits: { count: 1 },
    fields: { images: "image_url", factor: "scale" },
    constants,
  },
  {
    task: "image.describe",
    model: "describe-default",
    upstreamModel: "fal-ai/moondream3-preview/caption",
    preference: 60,
    latency: "quick",
    equivalence: "describe",
    fields: { images: "image_url", detail: "length" },
  },
];

export const falRows: OfferRow[] = [...flux, ...kontext, ...gpt, ...nano, ...sampled, ...tools];
