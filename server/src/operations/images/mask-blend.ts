// A mask is kept to by our own hand: whatever a provider did outside of it is undone, so that nothing there changes.
import type { Job, ParameterAdjustment } from "../../kit/operation.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";

/** The job, and after it the laying of its results over the original, where a mask says what may change. */
export function planWithinMask(job: Job): Job[] {
  const original = job.images?.[job.mask_over ?? 0];
  if (!job.mask || !original) return [job];
  return [job, { task: "image.blend", model: "local", images: [original, { job: 0, every: true }], mask: job.mask }];
}

/** Pixels outside of the mask can only stay where they are if the picture keeps its shape. */
export const aspectRatioIgnored = (given: JsonObject): ParameterAdjustment[] =>
  given.aspect_ratio === undefined
    ? []
    : [{ field: "aspect_ratio", message: "aspect_ratio is not used with a mask: the image keeps its shape." }];
