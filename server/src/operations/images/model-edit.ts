// Fields, rules and plan of the edit operations that name a model.
import type { z } from "zod";
import { aspectRatio, promptField, runFields, seed } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import type { Job } from "../../contract/operation.ts";
import { atLeastOne, equalIfBoth } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import { planWithinMask } from "./mask-blend.ts";

export const editFields = {
  prompt: promptField("Text that describes the change, 1 to 8,000 characters"),
  image_url: imageField("Image to edit").optional(),
  ...sourceRun("run_id", "Run whose image to edit. It becomes the parent"),
  image: sourceFileField("Image to edit, as a file. Takes precedence over the other sources").optional(),
  reference_image_url: imageField("Reference image for style or content").optional(),
  reference_url: imageField("Use reference_image_url instead").optional().meta({ deprecated: true }),
  aspect_ratio: aspectRatio().optional(),
  seed: seed(),
  ...runFields,
};

export const maskFields = {
  mask_url: imageField("Mask in the shape of the image. White marks the area that changes").optional(),
  mask: sourceFileField("Mask as a file. Takes precedence over mask_url").optional(),
};

type EditInput = z.output<z.ZodObject<typeof editFields>> & Partial<z.output<z.ZodObject<typeof maskFields>>>;

export const editRules = [
  atLeastOne("image_url", "run_id", "image"),
  equalIfBoth("reference_image_url", "reference_url"),
];
export const editDeprecated = { reference_url: "reference_image_url" };

/** Replaces the deprecated name. If both names have different values, both stay, and the rule reports the conflict. */
export function translateReferenceUrl({ reference_url, ...raw }: JsonObject): JsonObject {
  if (reference_url === undefined) return raw;
  const known = raw.reference_image_url ?? reference_url;
  return known === reference_url ? { ...raw, reference_image_url: known } : { ...raw, reference_url };
}

export function editPlan(model: string, input: EditInput, count?: number): Job[] {
  const mask = firstSource(input.mask, input.mask_url);
  const sources = [
    firstSource(input.image, input.image_url, selectedOutput(input.run_id, input)),
    firstSource(input.reference_image_url),
  ];
  return planWithinMask({
    task: "image.edit",
    model,
    prompt: input.prompt,
    images: sources.flatMap((source) => source ?? []),
    mask,
    aspect_ratio: mask ? undefined : input.aspect_ratio,
    seed: input.seed,
    count,
  });
}

export const hasMask = (input: EditInput) => (input.mask ?? input.mask_url) !== undefined;
