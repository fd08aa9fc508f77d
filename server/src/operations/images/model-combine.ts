// What the combinations by a named model have in common: several pictures from several places, and one prompt.
import { z } from "zod";
import { aspectRatio, promptField, runFields, runId } from "../../kit/fields.ts";
import { imageField, parseSource } from "../../kit/image-fields.ts";
import type { Job } from "../../kit/operation.ts";
import { totalItemsBetween } from "../../kit/rules.ts";

const LISTS = ["image_urls", "run_ids", "images"] as const;

export const combineFields = {
  prompt: promptField("What to make of the images"),
  image_urls: z.array(imageField("An image")).min(2).max(10).optional().describe("Addresses of images"),
  run_ids: z.array(runId("A run")).min(2).max(10).optional().describe("Runs whose images are used"),
  images: z
    .array(imageField("An image: address, base64 or run id; in a form also a file"))
    .min(1)
    .max(10)
    .optional()
    .describe("Images of any kind, in their order"),
  aspect_ratio: aspectRatio().optional(),
  ...runFields,
};

export const combineRules = [totalItemsBetween(LISTS, [2, 10])];

export const combinePlan = (model: string, asked: z.output<z.ZodObject<typeof combineFields>>): Job[] => [
  {
    task: "image.edit",
    model,
    prompt: asked.prompt,
    images: LISTS.flatMap((list) => asked[list] ?? []).map(parseSource),
    aspect_ratio: asked.aspect_ratio,
  },
];
