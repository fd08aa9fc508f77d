// The models of the API, one row each: required fields, used fields, defaults and fixed values. Which provider serves a
// model is defined by the offers of the providers.
import {
  type FieldRule,
  fixedWhen,
  itemsBetweenWhen,
  requiredWhen,
  totalItemsAtMost,
  totalItemsBetweenWhen,
  valuesWhen,
} from "./rules.ts";
import type { JsonObject } from "./schemas/run.ts";

type ModelDefinition = {
  id: string;
  description: string;
  requires?: readonly string[];
  /** Fields that the model uses besides the prompt. Other fields are ignored with a warning. */
  usedFields: readonly string[];
  defaults?: JsonObject;
  fixed?: { batch_size: number };
  /** The only supported aspect ratios. Any other is adjusted to the nearest one. */
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
    description: "Default model: fast, general-purpose images",
    usedFields: [
      ...SIZE,
      ...SAMPLING,
      ...BATCH,
      "aspect_ratio",
      "seed",
      "reference_image_url",
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
    description: "Generates and edits images by prompt",
    usedFields: ["aspect_ratio", "seed", "reference_image_url", "guidance", "batch_size"],
    defaults: { aspect_ratio: "1:1" },
    rules: [valuesWhen("model_type", "flux-kontext-max", "aspect_ratio", FLUX_KONTEXT_ASPECT_RATIOS)],
  },
  {
    id: "vendora",
    description: "Generation and editing, good at text in images",
    usedFields: [...SIZE, "aspect_ratio", "reference_image_url", "batch_size", "seed"],
  },
  {
    id: "wan-image-2.1",
    description: "Custom model on the wan workflow; always two images",
    requires: ["model_id", ...SIZE],
    usedFields: [...SIZE, ...SAMPLING, "model_id", "strength_model", "model_weight", "seed", "batch_size"],
    fixed: { batch_size: 2 },
    rules: [fixedWhen("model_type", "wan-image-2.1", "batch_size", 2)],
  },
  {
    id: "wan-image-2.2",
    description: "Custom model with two LoRAs",
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
    description: "Combines 2 to 4 images into one",
    usedFields: [...LISTS, "aspect_ratio", "seed", "guidance"],
    rules: [totalItemsBetweenWhen("model_type", "flux-kontext-multi", LISTS, [2, 4])],
  },
  {
    id: "nanobanana",
    description: "Fast images with an optional reference image",
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
    description: "Combines images; inpainting with a mask",
    usedFields: [...LISTS, "aspect_ratio", "reference_image_url", "mask_url", "seed", "batch_size"],
    rules: [itemsBetweenWhen("model_type", "gemini-2.5", LISTS, [2, 10])],
  },
  {
    id: "vendorc",
    description: "Available only if the operator binds it to a provider in gesso.yaml",
    usedFields: [...SIZE, "aspect_ratio", "seed"],
  },
] as const satisfies ModelDefinition[];

export const models: readonly ModelDefinition[] = modelDefinitions;
export const modelIds = modelDefinitions.map((row) => row.id) as [
  (typeof modelDefinitions)[number]["id"],
  ...(typeof modelDefinitions)[number]["id"][],
];

type ModelId = (typeof modelIds)[number];

/** Model types that custom models can belong to: those that use `model_id` or a LoRA name. */
export const customModelTypes = modelDefinitions
  .filter(({ usedFields }) => ["model_id", "lora_1"].some((field) => (usedFields as readonly string[]).includes(field)))
  .map((row) => row.id) as [ModelId, ...ModelId[]];

/** The most images of both lists together, for every model. A model can have a lower limit. */
const MAX_LISTED_IMAGES = 10;

export const modelRules: FieldRule[] = [
  totalItemsAtMost(LISTS, MAX_LISTED_IMAGES),
  ...models.flatMap(({ id, requires, rules }) => [
    ...(requires ? [requiredWhen("model_type", id, requires)] : []),
    ...(rules ?? []),
  ]),
];

const findModelDefinition = (id: string) => models.find((model) => model.id === id);

/** Adds the defaults of the model and overrides its fixed values. */
export function applyModelDefaults<Input extends { model_type: string }>(input: Input): Input {
  const model = findModelDefinition(input.model_type);
  return { ...model?.defaults, ...input, ...model?.fixed };
}

/** Fields that work with every model, because Gesso adds a job for them if the model cannot do it. */
const FIELDS_OF_EVERY_MODEL = ["upscale_factor"];

/** The provided fields among `candidates` that the model does not use. */
export const listUnusedFields = (modelType: string, provided: JsonObject, candidates: readonly string[]): string[] => {
  const used = [...(findModelDefinition(modelType)?.usedFields ?? []), ...FIELDS_OF_EVERY_MODEL];
  return candidates.filter((field) => provided[field] !== undefined && !used.includes(field));
};

const logAspectRatio = (ratio: string) => {
  const [width = 1, height = 1] = ratio.split(":").map(Number);
  return Math.log(width / height);
};

/** The supported aspect ratio of the model that is nearest to `ratio`. */
export function nearestAspectRatio(modelType: string, ratio: string): string {
  const ratios = findModelDefinition(modelType)?.aspectRatios ?? [ratio];
  const distance = (other: string) => Math.abs(logAspectRatio(other) - logAspectRatio(ratio));
  return ratios.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}
