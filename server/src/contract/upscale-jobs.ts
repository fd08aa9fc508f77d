// The jobs that enlarge the results of an earlier job of the same plan, one request per result. They serve
// `upscale_factor` for models that cannot enlarge by themselves.
import type { Job } from "./operation.ts";

/** The factors of image.upscale. Another factor is made by the next larger one, and then reduced by image.resize. */
const UPSCALE_FACTORS = [2, 4] as const;
const MAX_UPSCALE_FACTOR = 4;

/** The factor of the upscale job that makes `factor`. */
export const upscaleStepFor = (factor: number): number =>
  UPSCALE_FACTORS.find((step) => step >= factor) ?? MAX_UPSCALE_FACTOR;

/** `jobIndex` is the job whose results are enlarged; its results are `count`. The new jobs follow the last job. */
export function planUpscale(jobIndex: number, factor: number, count = 1): Job[] {
  if (factor <= 1) return [];
  const step = upscaleStepFor(factor);
  const upscale: Job = {
    task: "image.upscale",
    model: "upscale-default",
    images: [{ job: jobIndex, each: true }],
    request_count: count,
    options: { factor: step },
  };
  if (step === factor) return [upscale];
  const resize: Job = {
    task: "image.resize",
    model: "local",
    images: [{ job: jobIndex + 1, each: true }],
    request_count: count,
    options: { scale: factor / step },
  };
  return [upscale, resize];
}
