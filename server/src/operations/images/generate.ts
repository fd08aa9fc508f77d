import { z } from "zod";
import {
  aspectRatio,
  imageUrl,
  loraName,
  promptField,
  runFields,
  runId,
  seed,
  sideLength,
  textField,
} from "../../kit/fields.ts";
import { defineOperation, type Source } from "../../kit/operation.ts";
import { allOrNone } from "../../kit/rules.ts";
import { asGeneration, Generation, type JsonObject } from "../../kit/schemas/run.ts";
import { applyModelDefaults, listUnusedFields, modelIds, modelRules, nearestAspectRatio } from "../../models.ts";
import { aspectRatioIgnored, planWithinMask } from "./mask-blend.ts";
import { translateWorkflowType, workflowTypeRule } from "./workflow-type.ts";

const strength = () => z.number().min(0).max(2);

const input = z.object({
  prompt: promptField(),
  model_type: z.enum(modelIds).default("flux-dev").describe("The model that makes the picture"),
  model_id: z.uuid().optional().describe("A custom or fine-tuned model of yours"),
  workflow_type: z
    .enum(["default", "wan", "wan-image-2.2"])
    .optional()
    .describe("Use model_type")
    .meta({ deprecated: true }),
  width: sideLength("Width in pixels").optional(),
  height: sideLength("Height in pixels").optional(),
  aspect_ratio: aspectRatio().optional(),
  strength_model: strength().default(1).describe("How strongly the custom model shows"),
  model_weight: z.number().min(0).max(1).default(0.7).describe("Weight of the custom model"),
  guidance: z.number().min(0).max(100).default(7.5).describe("How closely the prompt is followed"),
  lora_low_name: loraName("LoRA of the low-noise half").optional(),
  lora_high_name: loraName("LoRA of the high-noise half").optional(),
  lora_low_strength: strength().default(0.5).describe("Strength of the low-noise LoRA"),
  lora_high_strength: strength().default(1).describe("Strength of the high-noise LoRA"),
  lora_1: loraName("LoRA for qwen-image-edit").optional(),
  reference_image_url: imageUrl("Reference or style image").optional(),
  image_urls: z.array(imageUrl("An image")).min(1).max(10).optional().describe("Source images"),
  run_ids: z.array(runId("A run")).min(1).max(10).optional().describe("Runs whose images are sources"),
  mask_url: imageUrl("Mask: white is what changes").optional(),
  seed: seed(),
  negative_prompt: textField("What the picture must not show").optional(),
  scheduler: textField("Sampler of the model", 128).optional(),
  steps: z.int().min(1).max(100).optional().describe("Sampling steps"),
  cfg_scale: z.number().min(0).max(30).optional().describe("Classifier-free guidance"),
  batch_size: z.int().min(1).max(4).default(1).describe("How many images"),
  batch_count: z.int().min(1).max(4).optional().describe("How many batches"),
  upscale_factor: z.number().min(1).max(4).optional().describe("Enlarge the result"),
  ...runFields,
});

/** Fields with a place of their own in a job, or that never leave the house; all others travel as options. */
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

const unused = (modelType: string, given: JsonObject) => listUnusedFields(modelType, given, MODEL_FIELDS);

/** Those of the values that the model uses. */
const usedBy = (asked: z.output<typeof input>, given: JsonObject): Partial<z.output<typeof input>> =>
  Object.fromEntries(Object.entries(asked).filter(([field]) => !unused(asked.model_type, given).includes(field)));

const sourcesOf = ({
  image_urls = [],
  reference_image_url,
  run_ids = [],
}: Partial<z.output<typeof input>>): Source[] => [
  ...[...image_urls, ...(reference_image_url ? [reference_image_url] : [])].map((url) => ({ url })),
  ...run_ids.map((run) => ({ run })),
];

/** A mask without a picture marks nothing. */
const isInpainting = (used: Partial<z.output<typeof input>>) =>
  used.mask_url !== undefined && sourcesOf(used).length > 0;

export const generateImage = defineOperation({
  name: "images.generate",
  summary: "Make images from words",
  http: { method: "POST", path: "/runs/generate", bodies: ["json"] },
  run_type: "image-generation",

  input,
  rules: [...modelRules, allOrNone("lora_pair_required", "lora_low_name", "lora_high_name"), workflowTypeRule],
  output: Generation,
  example: { prompt: "a red bicycle by the sea", width: 768, height: 512, seed: 7 },
  deprecated: { workflow_type: "model_type" },

  translateDeprecated: translateWorkflowType,
  fillDefaults: applyModelDefaults,
  unusedFields: (asked, given) => unused(asked.model_type, given),
  adjustments: (asked, given) => {
    const used = usedBy(asked, given);
    if (isInpainting(used)) return aspectRatioIgnored(given);
    const ratio = used.aspect_ratio && nearestAspectRatio(asked.model_type, used.aspect_ratio);
    return [
      ...(used.mask_url ? [{ field: "mask_url", message: "mask_url is not used without an image to repaint." }] : []),
      ...(ratio !== used.aspect_ratio
        ? [
            {
              field: "aspect_ratio",
              message: `aspect_ratio was adapted to ${ratio}, the nearest that this model makes.`,
            },
          ]
        : []),
    ];
  },
  plan: (asked, given) => {
    const used = usedBy(asked, given);
    const images = sourcesOf(used);
    const isRepainted = isInpainting(used);
    const options = Object.entries(given).filter(([field]) => field in used && !NOT_OPTIONS.includes(field));
    return planWithinMask({
      task: isRepainted ? "image.edit" : "image.generate",
      model: asked.model_type,
      prompt: asked.prompt,
      negative_prompt: used.negative_prompt,
      images: images.length > 0 ? images : undefined,
      mask: isRepainted ? { url: used.mask_url! } : undefined,
      width: used.width,
      height: used.height,
      aspect_ratio:
        used.aspect_ratio && !isRepainted ? nearestAspectRatio(asked.model_type, used.aspect_ratio) : undefined,
      seed: used.seed,
      count: (used.batch_size ?? 1) * (used.batch_count ?? 1),
      options: options.length > 0 ? Object.fromEntries(options) : undefined,
    });
  },
  renderResponse: asGeneration,
});
