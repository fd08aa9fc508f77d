import { z } from "zod";
import {
  aspectRatio,
  imageUrl,
  loraName,
  modelToUse,
  promptField,
  runFields,
  seed,
  sideLength,
  textField,
} from "../../contract/fields.ts";
import { parseSource } from "../../contract/image-fields.ts";
import { applyModelDefaults, modelIds, modelRules } from "../../contract/models.ts";
import { defineRun, type ModelFacts, type Source } from "../../contract/operation.ts";
import { allOrNone } from "../../contract/rules.ts";
import { runEntry } from "../../contract/run-outputs.ts";
import { asGeneration, Generation, type JsonObject } from "../../contract/schemas/run.ts";
import { TASK_PARAMETERS } from "../../contract/task-parameters.ts";
import { planUpscale } from "../../contract/upscale-jobs.ts";
import { aspectRatioIgnored, planWithinMask } from "./mask-blend.ts";
import { translateWorkflowType, workflowTypeRule } from "./workflow-type.ts";

const strength = () => z.number().min(0).max(2);

const input = z.object({
  prompt: promptField(),
  model_type: modelToUse(modelIds, "Model to use. Default: flux-dev").default("flux-dev"),
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

/**
 * Whether the offers of the model use the field at all. What the offer that is selected then does with its value is
 * judged when the run is accepted.
 */
function isUsed(field: string, model: string, models: ModelFacts): boolean {
  const uses = (parameter: string) => models.uses("image.generate", model, parameter);
  switch (field) {
    case "reference_image_url":
      return uses("images");
    // Lists are for models that take several images.
    case "image_urls":
    case "run_ids":
      return uses("images") && models.mostImages("image.generate", model) > 1;
    case "mask_url":
      return models.does("image.edit", model) && models.uses("image.edit", model, "mask");
    case "batch_size":
    case "batch_count":
      return uses("count");
    // Gesso adds a job for it if the model cannot enlarge.
    case "upscale_factor":
      return true;
    default:
      return uses(field);
  }
}

/** The fields that a form shows for the model. */
export const listUsedFields = (model: string, models: ModelFacts): string[] =>
  MODEL_FIELDS.filter((field) => isUsed(field, model, models));

const unused = (model: string, provided: JsonObject, models: ModelFacts) =>
  MODEL_FIELDS.filter((field) => provided[field] !== undefined && !isUsed(field, model, models));

/** The values that the model uses. */
const usedBy = (input: GenerateInput, provided: JsonObject, models: ModelFacts): Partial<GenerateInput> => {
  const ignored = unused(input.model_type, provided, models);
  return Object.fromEntries(Object.entries(input).filter(([field]) => !ignored.includes(field)));
};

/** Within a mask, the job is an edit, which keeps the size of the image and has fewer parameters. */
const LOST_WITHIN_MASK: readonly string[] = TASK_PARAMETERS["image.generate"].filter(
  (name) => !(TASK_PARAMETERS["image.edit"] as readonly string[]).includes(name) && name !== "upscale_factor",
);

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
  modelField: "model_type",
  fillDefaults: applyModelDefaults,
  unusedFields: (input, provided, models) => unused(input.model_type, provided, models),
  adjustments: (input, provided, models) => {
    const used = usedBy(input, provided, models);
    if (isInpainting(used)) {
      const lost = LOST_WITHIN_MASK.filter((field) => provided[field] !== undefined && field in used);
      return [
        ...aspectRatioIgnored(provided),
        ...lost.map((field) => ({ field, message: `${field} is ignored with a mask.` })),
      ];
    }
    return used.mask_url ? [{ field: "mask_url", message: "mask_url is ignored without a source image." }] : [];
  },
  plan: (input, provided, models) => {
    const used = usedBy(input, provided, models);
    const images = sourcesOf(used);
    const count = (used.batch_size ?? 1) * (used.batch_count ?? 1);
    const job = { model: input.model_type, prompt: input.prompt, seed: used.seed, count };
    if (isInpainting(used)) {
      const plan = planWithinMask({ ...job, task: "image.edit", images, mask: { url: used.mask_url! } });
      // No model enlarges while it inpaints: pixels outside of the mask are restored first, in the size of the source.
      return [...plan, ...planUpscale(plan.length - 1, used.upscale_factor ?? 1, count)];
    }
    const options = Object.entries(provided).filter(([field]) => field in used && !NOT_OPTIONS.includes(field));
    return [
      {
        ...job,
        task: "image.generate",
        negative_prompt: used.negative_prompt,
        images: images.length > 0 ? images : undefined,
        width: used.width,
        height: used.height,
        aspect_ratio: used.aspect_ratio,
        options: options.length > 0 ? Object.fromEntries(options) : undefined,
      },
    ];
  },
  renderResponse: asGeneration,
});
