// What the edits by a named model have in common: where the picture comes from, and what is asked of the model.
import type { z } from "zod";
import { aspectRatio, promptField, runFields, runId, seed } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import type { Job } from "../../kit/operation.ts";
import { atLeastOne, equalIfBoth } from "../../kit/rules.ts";
import type { JsonObject } from "../../kit/schemas/run.ts";
import { planWithinMask } from "./mask-blend.ts";

export const editFields = {
  prompt: promptField("What to change"),
  image_url: imageField("The image that is edited").optional(),
  run_id: runId("The run whose image is edited; it becomes the parent").optional(),
  image: fileField("The image that is edited; it goes before the others").optional(),
  reference_image_url: imageField("An image that the result should take after").optional(),
  reference_url: imageField("Use reference_image_url").optional().meta({ deprecated: true }),
  aspect_ratio: aspectRatio().optional(),
  seed: seed(),
  ...runFields,
};

export const maskFields = {
  mask_url: imageField("Mask of the same size: white is what changes").optional(),
  mask: fileField("Mask as a file; it goes before mask_url").optional(),
};

type Edit = z.output<z.ZodObject<typeof editFields>> & Partial<z.output<z.ZodObject<typeof maskFields>>>;

export const editRules = [
  atLeastOne("image_url", "run_id", "image"),
  equalIfBoth("reference_image_url", "reference_url"),
];
export const editDeprecated = { reference_url: "reference_image_url" };

/** The old name stands for the new one; where both say different things they are left for the rule to see. */
export function translateReferenceUrl({ reference_url, ...raw }: JsonObject): JsonObject {
  if (reference_url === undefined) return raw;
  const known = raw.reference_image_url ?? reference_url;
  return known === reference_url ? { ...raw, reference_image_url: known } : { ...raw, reference_url };
}

export function editPlan(model: string, asked: Edit, count?: number): Job[] {
  const mask = firstSource(asked.mask, asked.mask_url);
  const sources = [firstSource(asked.image, asked.image_url, asked.run_id), firstSource(asked.reference_image_url)];
  return planWithinMask({
    task: "image.edit",
    model,
    prompt: asked.prompt,
    images: sources.flatMap((source) => source ?? []),
    mask,
    aspect_ratio: mask ? undefined : asked.aspect_ratio,
    seed: asked.seed,
    count,
  });
}

export const hasMask = (asked: Edit) => (asked.mask ?? asked.mask_url) !== undefined;
