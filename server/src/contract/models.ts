// The names of models that the interface defines, one row each: required fields, defaults and fixed values. What a name
// means and which fields it uses is derived from the offers of the providers (providers/resolve-model.ts).
import type { Task } from "./operation.ts";
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
  /** For a name whose own model its vendor ended: the model that it stands for, and the last day. */
  retired?: { name: string; since: string };
  requires?: readonly string[];
  /** Whether tenants can have custom models of this type. */
  hasCustomModels?: true;
  defaults?: JsonObject;
  fixed?: { batch_size: number };
  rules?: readonly FieldRule[];
};

export const FLUX_KONTEXT_ASPECT_RATIOS = [
  ...["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "4:5", "5:4", "21:9", "9:21", "2:1", "1:2"],
] as const;

const SIZE = ["width", "height"] as const;
const LISTS = ["image_urls", "run_ids"] as const;

const modelDefinitions = [
  {
    id: "flux-dev",
    description: "Default model: fast, general-purpose images",
    hasCustomModels: true,
  },
  {
    id: "vendorb-imagen4",
    description: "Photographic images and style transfer",
    retired: { name: "Imagen 4", since: "2026-08-17" },
    requires: ["aspect_ratio"],
  },
  {
    id: "flux-kontext-max",
    description: "Generates and edits images by prompt",
    defaults: { aspect_ratio: "1:1" },
    rules: [valuesWhen("model_type", "flux-kontext-max", "aspect_ratio", FLUX_KONTEXT_ASPECT_RATIOS)],
  },
  {
    id: "vendora",
    description: "Generation and editing, good at text in images",
  },
  {
    id: "wan-image-2.1",
    description: "Custom model on the wan workflow; always two images",
    hasCustomModels: true,
    requires: ["model_id", ...SIZE],
    fixed: { batch_size: 2 },
    rules: [fixedWhen("model_type", "wan-image-2.1", "batch_size", 2)],
  },
  {
    id: "wan-image-2.2",
    description: "Custom model with two LoRAs",
    hasCustomModels: true,
    requires: ["model_id", ...SIZE, "lora_low_name", "lora_high_name"],
  },
  {
    id: "flux-kontext-multi",
    description: "Combines 2 to 4 images into one",
    rules: [totalItemsBetweenWhen("model_type", "flux-kontext-multi", LISTS, [2, 4])],
  },
  {
    id: "nanobanana",
    description: "Fast images with an optional reference image",
  },
  {
    id: "qwen-image-edit",
    description: "Edits with an optional LoRA",
    hasCustomModels: true,
    requires: [...SIZE],
  },
  {
    id: "gemini-2.5",
    description: "Combines images; inpainting with a mask",
    retired: { name: "Gemini 2.5 Flash Image", since: "2026-10-02" },
    rules: [itemsBetweenWhen("model_type", "gemini-2.5", LISTS, [2, 10])],
  },
  {
    id: "vendorc",
    description: "Available only if the operator binds it to a provider in gesso.yaml",
  },
] as const satisfies ModelDefinition[];

export const models: readonly ModelDefinition[] = modelDefinitions;
type ModelId = (typeof modelDefinitions)[number]["id"];
export const modelIds = modelDefinitions.map((row) => row.id) as [ModelId, ...ModelId[]];

/** Model types that custom models can belong to. */
export const customModelTypes = models.filter((row) => row.hasCustomModels).map((row) => row.id) as [
  ModelId,
  ...ModelId[],
];

/** The names with which plans ask for the preferred model of a task, if the request names none. */
export const DEFAULT_MODELS = {
  "image.edit": "edit-default",
  "image.character": "character-default",
  "image.reference": "reference-default",
  "image.segment": "segment-default",
  "image.remove-background": "remove-background-default",
  "image.remove": "remove-default",
  "image.describe": "describe-default",
  "image.upscale": "upscale-default",
  "prompt.enhance": "enhance-default",
  "video.generate": "video-default",
} as const satisfies Partial<Record<Task, string>>;

/** The tasks whose requests can name a model. Others are Gesso's own work on files. */
export const NAMEABLE_TASKS: readonly Task[] = [
  "image.generate",
  "image.reframe",
  ...(Object.keys(DEFAULT_MODELS) as (keyof typeof DEFAULT_MODELS)[]),
];

/** Names of models that requests may know although no enabled provider offers them. */
export const builtInModels: readonly string[] = [
  ...modelIds,
  ...Object.values(DEFAULT_MODELS),
  ...["photon-1", "photon-flash-1", "local"],
];

/** The most images of both lists together, for every model. A model can have a lower limit. */
const MAX_LISTED_IMAGES = 10;

export const modelRules: FieldRule[] = [
  totalItemsAtMost(LISTS, MAX_LISTED_IMAGES),
  ...models.flatMap(({ id, requires, rules }) => [
    ...(requires ? [requiredWhen("model_type", id, requires)] : []),
    ...(rules ?? []),
  ]),
];

export const findModelDefinition = (id: string): ModelDefinition | undefined => models.find((model) => model.id === id);

/** Adds the defaults of the model and overrides its fixed values. */
export function applyModelDefaults<Input extends { model_type: string }>(input: Input): Input {
  const model = findModelDefinition(input.model_type);
  return { ...model?.defaults, ...input, ...model?.fixed };
}
