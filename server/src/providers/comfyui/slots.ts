// Converts a job to slot values of graphs. Absent values stay undefined, so that the default of the graph applies.
import { createHash } from "node:crypto";
import type { Job } from "../../contract/operation.ts";
import { readImageSize } from "../../files/formats/image-size.ts";
import { inputRejected } from "../call-provider.ts";
import type { Asset } from "../provider.ts";
import type { SlotValues } from "./graph.ts";

/**
 * The ID of a job on the server, derived from the key, so that the same key always gives the same ID.
 */
export function promptIdOf(key: string): string {
  const hash = createHash("sha256").update(key).digest("hex");
  const variant = "89ab"[Number.parseInt(hash[16]!, 16) & 3];
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** A graph needs a seed. Without one in the request, it is derived from the key, so that a repeat is identical. */
const seedOf = (key: string) => createHash("sha256").update(`seed ${key}`).digest().readUIntBE(0, 6);

/** Names of ComfyUI's noise schedules. Any other `scheduler` value is a sampler. */
const SCHEDULES = [
  ...["simple", "sgm_uniform", "karras", "exponential", "ddim_uniform", "beta", "normal", "linear_quadratic"],
  ...["kl_optimal", "bong_tangent"],
];

const FILE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** The file of a LoRA. The name cannot be a path. */
function fileOf(name: unknown): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name !== "string" || !FILE.test(name))
    throw inputRejected("no name of a LoRA", { reason: "lora_not_found" });
  return name.endsWith(".safetensors") ? name : `${name}.safetensors`;
}

const number = (value: unknown) => (typeof value === "number" ? value : undefined);

type Size = { width: number; height: number };
type Canvas = { pixels: number; step: number };
const IMAGE_CANVAS: Canvas = { pixels: 1024 * 1024, step: 16 };
const VIDEO_CANVAS: Canvas = { pixels: 1280 * 704, step: 32 };

const stepped = ({ width, height }: Size, step: number): Size => ({
  width: Math.max(step, Math.round(width / step) * step),
  height: Math.max(step, Math.round(height / step) * step),
});
const ofShape = (shape: number, { pixels, step }: Canvas) =>
  stepped({ width: Math.sqrt(pixels * shape), height: Math.sqrt(pixels / shape) }, step);

/** The requested size, or the native size of the model in the aspect ratio of the request or the image. */
async function sizeOf(job: Job<Asset>, canvas: Canvas): Promise<Partial<Size>> {
  if (job.width && job.height) return stepped({ width: job.width, height: job.height }, canvas.step);
  const [, across, down] = /^(\d+):(\d+)$/.exec(job.aspect_ratio ?? "") ?? [];
  if (across && down) return ofShape(Number(across) / Number(down), canvas);
  const [firstImage] = job.images ?? [];
  if (!firstImage) return {};
  const { width, height } = readImageSize(await firstImage.bytes());
  return ofShape(width / height, canvas);
}

const FRAMES_PER_SECOND = 24;

/** Video models need 4n + 1 frames. */
function timeOf({ duration, fps }: Record<string, unknown>): SlotValues {
  const rate = number(fps);
  const seconds = number(duration);
  const frames = seconds && 4 * Math.max(1, Math.round((seconds * (rate ?? FRAMES_PER_SECOND)) / 4)) + 1;
  return { fps: rate, frames };
}

function samplingOf({ steps, cfg_scale, guidance, scheduler }: Record<string, unknown>, model: string): SlotValues {
  const count = number(steps);
  const name = typeof scheduler === "string" ? scheduler : undefined;
  const isSchedule = name !== undefined && SCHEDULES.includes(name);
  return {
    steps: count,
    middle_step: count && Math.ceil(count / 2),
    // FLUX has its own guidance. For all other models, guidance means classifier-free guidance.
    cfg: number(cfg_scale) ?? (model === "flux-dev" ? undefined : number(guidance)),
    guidance: number(guidance),
    sampler: isSchedule ? undefined : name,
    scheduler: isSchedule ? name : undefined,
  };
}

function lorasOf({ options = {}, model }: Job<Asset>): SlotValues {
  const own = model === "qwen-image-edit" ? options.lora_1 : (options.deployment_id ?? options.model_id);
  return {
    lora: fileOf(own),
    lora_strength: number(options.strength_model) ?? number(options.model_weight),
    lora_high: fileOf(options.lora_high_name),
    lora_high_strength: number(options.lora_high_strength),
    lora_low: fileOf(options.lora_low_name),
    lora_low_strength: number(options.lora_low_strength),
  };
}

/** `image` is the name of the uploaded image on the server, if the job has one. */
export async function slotsOf(job: Job<Asset>, key: string, image?: string): Promise<SlotValues> {
  const { options = {} } = job;
  return {
    prompt: job.prompt,
    negative_prompt: job.negative_prompt,
    image,
    seed: job.seed ?? seedOf(key),
    count: job.count,
    ...(await sizeOf(job, job.task === "video.generate" ? VIDEO_CANVAS : IMAGE_CANVAS)),
    ...timeOf(options),
    ...samplingOf(options, job.model),
    ...lorasOf(job),
    upscale_factor: number(options.upscale_factor),
    save_as: `gesso/${promptIdOf(key)}`,
  };
}
