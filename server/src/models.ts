// The models that callers may name, a row each: what it needs, what it takes, what it fixes. Which provider stands behind
// a name is the providers' word, not ours.
import {
  type FieldRule,
  fixedWhen,
  itemsBetweenWhen,
  requiredWhen,
  totalItemsBetweenWhen,
  valuesWhen,
} from "./kit/rules.ts";
import type { JsonObject } from "./kit/schemas/run.ts";

type ModelDefinition = {
  id: string;
  description: string;
  requires?: readonly string[];
  /** Fields it uses beside the prompt. Others are taken with a warning. */
  usedFields: readonly string[];
  defaults?: JsonObject;
  fixed?: { batch_size: number };
  /** The only shapes it makes; others are adapted to the nearest. */
  aspectRatios?: readonly string[];
  rules?: readonly FieldRule[];
};

export const FLUX_KONTEXT_ASPECT_RATIOS = [
  ...["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "4:5", "5:4", "21:9", "9:21", "2:1", "1:2"],
] as const;

const SIZE = ["width", "height"] as const;
const SAMPLING = ["negative_prompt", "scheduler", "steps", "cfg_scale", "guidance"] as const;
const BATCH = ["batch_size", "batch_count"] as const;
const LISTS = ["image_urls", "run_ids"] as const;

const modelDefinitions = [
  {
    id: "flux-dev",
    description: "The default: quick, general images",
    usedFields: [
      ...SIZE,
      ...SAMPLING,
      ...BATCH,
      "aspect_ratio",
      "seed",
      "reference_image_url",
      "upscale_factor",
      "model_id",
      "model_weight",
      "strength_model",
    ],
  },
  {
    id: "vendorb-imagen4",
    description: "Photographic images and style transfer",
    requires: ["aspect_ratio"],
    usedFields: ["aspect_ratio", "reference_image_url", "seed", "negative_prompt", "batch_size"],
    aspectRatios: ["1:1", "16:9", "9:16", "4:3", "3:4"],
  },
  {
    id: "flux-kontext-max",
    description: "Makes and edits images in words",
    usedFields: ["aspect_ratio", "seed", "reference_image_url", "guidance", "batch_size"],
    defaults: { aspect_ratio: "1:1" },
    rules: [valuesWhen("model_type", "flux-kontext-max", "aspect_ratio", FLUX_KONTEXT_ASPECT_RATIOS)],
  },
  {
    id: "vendora",
    description: "Generation and editing with strong text",
    usedFields: [...SIZE, "aspect_ratio", "reference_image_url", "batch_size", "seed"],
  },
  {
    id: "wan-image-2.1",
    description: "Your own model on the wan workflow; two images",
    requires: ["model_id", ...SIZE],
    usedFields: [...SIZE, ...SAMPLING, "model_id", "strength_model", "model_weight", "seed", "batch_size"],
    fixed: { batch_size: 2 },
    rules: [fixedWhen("model_type", "wan-image-2.1", "batch_size", 2)],
  },
  {
    id: "wan-image-2.2",
    description: "Your own model with two LoRAs",
    requires: ["model_id", ...SIZE, "lora_low_name", "lora_high_name"],
    usedFields: [
      ...SIZE,
      ...SAMPLING,
      "model_id",
      "lora_low_name",
      "lora_high_name",
      "lora_low_strength",
      "lora_high_strength",
      "seed",
      "batch_size",
    ],
  },
  {
    id: "flux-kontext-multi",
    description: "Several images in, one image out",
    usedFields: [...LISTS, "aspect_ratio", "seed", "guidance"],
    rules: [totalItemsBetweenWhen("model_type", "flux-kontext-multi", LISTS, [2, 4])],
  },
  {
    id: "nanobanana",
    description: "Quick images with an optional reference",
    usedFields: ["reference_image_url", "aspect_ratio", "seed", "batch_size"],
  },
  {
    id: "qwen-image-edit",
    description: "Edits with an optional LoRA",
    requires: [...SIZE],
    usedFields: [...SIZE, ...SAMPLING, "lora_1", "strength_model", "reference_image_url", "seed", "batch_size"],
  },
  {
    id: "gemini-2.5",
    description: "Several images in, inpainting by mask",
    usedFields: [...LISTS, "aspect_ratio", "reference_image_url", "mask_url", "seed", "batch_size"],
    rules: [itemsBetweenWhen("model_type", "gemini-2.5", LISTS, [2, 10])],
  },
  {
    id: "vendorc",
    description: "Works only where the operator has bound it",
    usedFields: [...SIZE, "aspect_ratio", "seed"],
  },
] as const satisfies ModelDefinition[];

export const models: readonly ModelDefinition[] = modelDefinitions;
export const modelIds = modelDefinitions.map((row) => row.id) as [
  (typeof modelDefinitions)[number]["id"],
  ...(typeof modelDefinitions)[number]["id"][],
];

type ModelId = (typeof modelIds)[number];

/** Those that callers may have a model of their own for: one by its id, or a LoRA by its name. */
export const customModelTypes = modelDefinitions
  .filter(({ usedFields }) => ["model_id", "lora_1"].some((field) => (usedFields as readonly string[]).includes(field)))
  .map((row) => row.id) as [ModelId, ...ModelId[]];

export const modelRules: FieldRule[] = models.flatMap(({ id, requires, rules }) => [
  ...(requires ? [requiredWhen("model_type", id, requires)] : []),
  ...(rules ?? []),
]);

const findModelDefinition = (id: string) => models.find((model) => model.id === id);

/** The request as this model will see it: its defaults under what was asked, its fixed values over it. */
export function applyModelDefaults<Input extends { model_type: string }>(input: Input): Input {
  const model = findModelDefinition(input.model_type);
  return { ...model?.defaults, ...input, ...model?.fixed };
}

/** Which of these given fields the model does not use. */
export const listUnusedFields = (modelType: string, given: JsonObject, candidates: readonly string[]): string[] =>
  candidates.filter(
    (field) => given[field] !== undefined && !findModelDefinition(modelType)?.usedFields.includes(field),
  );

const logAspectRatio = (ratio: string) => {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return Math.log(across / down);
};

/** The shape that this model makes and that comes nearest to the one asked for. */
export function nearestAspectRatio(modelType: string, ratio: string): string {
  const ratios = findModelDefinition(modelType)?.aspectRatios ?? [ratio];
  const distance = (other: string) => Math.abs(logAspectRatio(other) - logAspectRatio(ratio));
  return ratios.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}
