// The parameters of each task: everything that a plan can ask of an offer. Offers declare for each of them whether they
// honour it (providers/parameter-support.ts). A test compares this list with the plans of all operations.
import type { Job, Task } from "./operation.ts";

/** Parameters of image.generate that set up the sampler of a diffusion model. */
export const SAMPLING_PARAMETERS = ["steps", "guidance", "cfg_scale", "scheduler"] as const;
/** Parameters of image.generate for one custom model or LoRA. */
const CUSTOM_MODEL_PARAMETERS = ["model_id", "strength_model", "model_weight"] as const;
/** Parameters of image.generate for models with one LoRA per phase of the sampling. */
export const LORA_PAIR_PARAMETERS = [
  "lora_low_name",
  "lora_high_name",
  "lora_low_strength",
  "lora_high_strength",
] as const;
/** Parameters of image.reframe for the position of the image in the new frame. */
export const FRAME_PARAMETERS = ["grid_position_x", "grid_position_y", "x_start", "x_end", "y_start", "y_end"] as const;

/** Parameters of image.generate that only models with weights of your own choice have. */
export const WEIGHT_PARAMETERS = [...CUSTOM_MODEL_PARAMETERS, ...LORA_PAIR_PARAMETERS, "lora_1"] as const;

export const TASK_PARAMETERS = {
  "image.generate": [
    "prompt",
    "negative_prompt",
    "images",
    "width",
    "height",
    "aspect_ratio",
    "seed",
    "count",
    ...SAMPLING_PARAMETERS,
    ...WEIGHT_PARAMETERS,
    "upscale_factor",
  ],
  "image.edit": ["prompt", "images", "mask", "aspect_ratio", "seed", "count"],
  "image.character": [
    "prompt",
    "images",
    "mask",
    "aspect_ratio",
    "seed",
    "rendering_speed",
    "style_type",
    "magic_prompt_option",
    "resolution",
  ],
  "image.reference": ["prompt", "images", "tags", "aspect_ratio", "resolution"],
  "image.segment": ["prompt", "images", "count", "multiple"],
  "image.remove-background": ["images"],
  "image.remove": ["prompt", "images", "mask", "remove_shadow", "multiple"],
  "image.reframe": ["prompt", "images", "aspect_ratio", ...FRAME_PARAMETERS],
  "image.describe": ["images", "detail", "language"],
  "image.upscale": ["images", "factor"],
  "image.resize": ["images", "scale"],
  "image.combine": ["images", "mode", "gap", "background", "opacity", "output_format"],
  "image.cut": ["images", "masks", "mode", "invert", "preserve_alpha"],
  "image.blend": ["images", "mask"],
  "prompt.enhance": ["prompt", "seed", "model_type", "style", "language"],
  "video.generate": [
    "prompt",
    "negative_prompt",
    "images",
    "aspect_ratio",
    "seed",
    "duration",
    "fps",
    "cfg_scale",
    "motion_bucket_id",
  ],
  // All others are in the schema of the model.
  "model.run": ["images"],
} as const satisfies Record<Task, readonly string[]>;

export type TaskParameter<T extends Task> = (typeof TASK_PARAMETERS)[T][number];
export type ParameterName = TaskParameter<Task>;

/** Parameters with a property of their own in a job. All others are in `options`, by their API names. */
const JOB_PROPERTIES = [
  "prompt",
  "negative_prompt",
  "images",
  "mask",
  "masks",
  "width",
  "height",
  "aspect_ratio",
  "seed",
  "count",
] as const satisfies readonly (keyof Job & ParameterName)[];

/** Added to the options by Gesso itself, from `model_id`. */
const DERIVED_OPTIONS = { deployment_id: "model_id" } as const;

const isJobProperty = (name: string): name is (typeof JOB_PROPERTIES)[number] =>
  (JOB_PROPERTIES as readonly string[]).includes(name);

/** The parameters that a job sets. */
export const listJobParameters = <S>(job: Job<S>): string[] => [
  ...JOB_PROPERTIES.filter((name) => job[name] !== undefined),
  ...Object.keys(job.options ?? {}).filter((name) => job.options?.[name] !== undefined && !(name in DERIVED_OPTIONS)),
];

export const readJobParameter = <S>(job: Job<S>, name: string): unknown =>
  isJobProperty(name) ? job[name] : job.options?.[name];

/** The job with another value of a parameter. Undefined removes the parameter and what was derived from it. */
export function withJobParameter<S>(job: Job<S>, name: string, value: unknown): Job<S> {
  if (isJobProperty(name)) {
    const { [name]: _, ...rest } = job;
    return value === undefined ? (rest as Job<S>) : { ...job, [name]: value };
  }
  if (value !== undefined) return { ...job, options: { ...job.options, [name]: value } };
  const isRemoved = (option: string) => option === name || (DERIVED_OPTIONS as Record<string, string>)[option] === name;
  const options = Object.fromEntries(Object.entries(job.options ?? {}).filter(([option]) => !isRemoved(option)));
  return { ...job, options: Object.keys(options).length > 0 ? options : undefined };
}
