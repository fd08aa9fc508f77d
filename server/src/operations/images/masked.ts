// A mask is kept to by our own hand: whatever a provider did outside of it is undone, so that nothing there changes.
import type { Adapted, Job } from "../../kit/operation.ts";
import type { Json } from "../../kit/shapes.ts";

/** The job, and after it the laying of its results over the original, where a mask says what may change. */
export function withinMask(job: Job): Job[] {
  const original = job.images?.[job.mask_over ?? 0];
  if (!job.mask || !original) return [job];
  return [job, { task: "image.blend", model: "local", images: [original, { job: 0, every: true }], mask: job.mask }];
}

/** Pixels outside of the mask can only stay where they are if the picture keeps its shape. */
export const shapeIsKept = (given: Json): Adapted[] =>
  given.aspect_ratio === undefined
    ? []
    : [{ field: "aspect_ratio", says: "aspect_ratio is not used with a mask: the image keeps its shape." }];
