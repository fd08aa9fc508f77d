// Keeps edits inside the mask: after the provider's job, the local provider restores all pixels outside the mask.
import type { Job, ParameterAdjustment } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";

/** The job, followed by a blend with the original image if the job has a mask. */
export function planWithinMask(job: Job): Job[] {
  const original = job.images?.[job.mask_over ?? 0];
  if (!job.mask || !original) return [job];
  return [job, { task: "image.blend", model: "local", images: [original, { job: 0, every: true }], mask: job.mask }];
}

/** With a mask, the image keeps its shape, so that pixels outside the mask can stay unchanged. */
export const aspectRatioIgnored = (provided: JsonObject): ParameterAdjustment[] =>
  provided.aspect_ratio === undefined
    ? []
    : [{ field: "aspect_ratio", message: "aspect_ratio is ignored with a mask: the image keeps its shape." }];
