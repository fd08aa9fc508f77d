import { z } from "zod";
import {
  aspectRatio,
  imageUrl,
  loraName,
  promptField,
  runFields,
  seed,
  sideLength,
  textField,
} from "../../contract/fields.ts";
import { parseSource } from "../../contract/image-fields.ts";
import {
  applyModelDefaults,
  listUnusedFields,
  modelIds,
  modelRules,
  nearestAspectRatio,
} from "../../contract/models.ts";
import { defineRun, type Source } from "../../contract/operation.ts";
import { allOrNone } from "../../contract/rules.ts";
import { runEntry } from "../../contract/run-outputs.ts";
import { asGeneration, Generation, type JsonObject } from "../../contract/schemas/run.ts";
import { planUpscale } from "../../contract/upscale-jobs.ts";
import { aspectRatioIgnored, planWithinMask } from "./mask-blend.ts";
import { translateWorkflowType, workflowTypeRule } from "./workflow-type.ts";

const strength = () => z.number().min(0).max(2);

const input = z.object({
  prompt: promptField(),
  model_type: z.enum(modelIds).default("flux-dev").describe("Model to use. Default: flux-dev"),
  model_id: z.uuid().optional().describe("ID of a custom model, from models.list"),
  workflow_type: z
    .enum(["default", "wan", "wan-image-2.2"])
    .optional()
    .describe("Use model_type instead")
    .meta({ deprecated: true }),
  width: sideLength("Width in pixels, 64 to 2048").optional(),
  height: sideLength("Height in pixels, 64 to 2048").optional(),
  aspect_ratio: aspectRatio().optional(),
  strength_model: strength().default(1).describe("Strength of the custom model, 0 to 2. Default: 1"),
  model_weight: z.number().min(0).max(1).default(0.7).describe("Weight of the custom model, 0 to 1. Default: 0.7"),
  guidance: z
    .number()
    .min(0)
    .max(100)
    .default(7.5)
    .describe("Guidance, 0 to 100. A higher value follows the prompt more closely. Default: 7.5"),
  lora_low_name: loraName("LoRA for the low-noise steps").optional(),
  lora_high_name: loraName("LoRA for the high-noise steps").optional(),
  lora_low_strength: strength().default(0.5).describe("Strength of the low-noise LoRA, 0 to 2. Default: 0.5"),
  lora_high_strength: strength().default(1).describe("Strength of the high-noise LoRA, 0 to 2. Default: 1"),
  lora_1: loraName("LoRA for qwen-image-edit").optional(),
  reference_image_url: imageUrl("Reference or style image").optional(),
  image_urls: z.array(imageUrl("An image")).min(1).max(10).optional().describe("Source images, at most 10"),
  run_ids: z.array(runEntry("A run")).min(1).max(10).optional().describe("Runs whose images are sources, at most 10"),
  mask_url: imageUrl("Mask for inpainting. White marks the area that changes").optional(),
  seed: seed(),
  negative_prompt: textField("Text that describes what the image must not show").optional(),
  scheduler: textField("Sampler, by the name that the model uses", 128).optional(),
  steps: z.int().min(1).max(100).optional().describe("Sampling steps, 1 to 100"),
  cfg_scale: z.number().min(0).max(30).optional().describe("Classifier-free guidance, 0 to 30"),
  batch_size: z.int().min(1).max(4).default(1).describe("Images per batch, 1 to 4. Default: 1"),
  batch_count: z.int().min(1).max(4).optional().describe("Number of batches, 1 to 4"),
  upscale_factor: z
    .number()
    .min(1)
    .max(4)
    .optional()
    .describe(
      "Upscaling factor of the result, 1 to 4. Models that cannot upscale get a second job for it, with its own price",
    ),
  ...runFields,
});

type GenerateInput = z.output<typeof input>;

/** Fields with a property of their own in a job, or that providers never receive. All others become options. */
const NOT_OPTIONS = [
  ...["prompt", "model_type", "workflow_type", "width", "height", "aspect_ratio", "seed", "negative_prompt"],
  ...[
    "reference_image_url",
    "image_urls",
    "run_ids",
    "mask_url",
    "batch_size",
    "batch_count",
    ...Object.keys(runFields),
  ],
];
const MODEL_FIELDS = Object.keys(input.shape).filter(
  (field) => !["prompt", "model_type", "workflow_type", ...Object.keys(runFields)].includes(field),
);

const unused = (modelType: string, provided: JsonObject) => listUnusedFields(modelType, provided, MODEL_FIELDS);

/** The values that the model uses. */
const usedBy = (input: GenerateInput, provided: JsonObject): Partial<GenerateInput> =>
  Object.fromEntries(Object.entries(input).filter(([field]) => !unused(input.model_type, provided).includes(field)));

const sourcesOf = ({ image_urls = [], reference_image_url, run_ids = [] }: Partial<GenerateInput>): Source[] => [
  ...[...image_urls, ...(reference_image_url ? [reference_image_url] : [])].map((url) => ({ url })),
  ...run_ids.map(parseSource),
];

/** A mask has no effect without a source image. */
const isInpainting = (used: Partial<GenerateInput>) => used.mask_url !== undefined && sourcesOf(used).length > 0;

export const generateImage = defineRun({
  name: "images.generate",
  summary: "Generate images from a prompt",
  http: { method: "POST", path: "/runs/generate", bodies: ["json"] },
  run_type: "image-generation",

  input,
  rules: [...modelRules, allOrNone("lora_pair_required", "lora_low_name", "lora_high_name"), workflowTypeRule],
  output: Generation,
  example: { prompt: "a red bicycle by the sea", width: 768, height: 512, seed: 7 },
  deprecated: { workflow_type: "model_type" },

  translateDeprecated: translateWorkflowType,
  fillDefaults: applyModelDefaults,
  unusedFields: (input, provided) => unused(input.model_type, provided),
  adjustments: (input, provided) => {
    const used = usedBy(input, provided);
    if (isInpainting(used)) return aspectRatioIgnored(provided);
    const ratio = used.aspect_ratio && nearestAspectRatio(input.model_type, used.aspect_ratio);
    return [
      ...(used.mask_url ? [{ field: "mask_url", message: "mask_url is ignored without a source image." }] : []),
      ...(ratio !== used.aspect_ratio
        ? [
            {
              field: "aspect_ratio",
              given: used.aspect_ratio,
              used: ratio,
              message: `aspect_ratio was adjusted from ${used.aspect_ratio} to ${ratio}, the nearest that this model supports.`,
            },
          ]
        : []),
    ];
  },
  plan: (input, provided) => {
    const used = usedBy(input, provided);
    const images = sourcesOf(used);
    const isInpainted = isInpainting(used);
    const options = Object.entries(provided).filter(
      ([field]) => field in used && !NOT_OPTIONS.includes(field) && !(isInpainted && field === "upscale_factor"),
    );
    const count = (used.batch_size ?? 1) * (used.batch_count ?? 1);
    const plan = planWithinMask({
      task: isInpainted ? "image.edit" : "image.generate",
      model: input.model_type,
      prompt: input.prompt,
      negative_prompt: used.negative_prompt,
      images: images.length > 0 ? images : undefined,
      mask: isInpainted ? { url: used.mask_url! } : undefined,
      width: used.width,
      height: used.height,
      aspect_ratio:
        used.aspect_ratio && !isInpainted ? nearestAspectRatio(input.model_type, used.aspect_ratio) : undefined,
      seed: used.seed,
      count,
      options: options.length > 0 ? Object.fromEntries(options) : undefined,
    });
    // No model enlarges while it inpaints: pixels outside of the mask are restored first, in the size of the source.
    return isInpainted ? [...plan, ...planUpscale(plan.length - 1, used.upscale_factor ?? 1, count)] : plan;
  },
  renderResponse: asGeneration,
});
