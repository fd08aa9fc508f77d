// Fields, rules and plan of the combine operations that name a model.
import { z } from "zod";
import { aspectRatio, promptField, runFields } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import type { Job } from "../../contract/operation.ts";
import { totalItemsBetween } from "../../contract/rules.ts";
import { runEntry } from "../../contract/run-outputs.ts";

const LISTS = ["image_urls", "run_ids", "images"] as const;

export const combineFields = {
  prompt: promptField("Text that describes the combined image, 1 to 8,000 characters"),
  image_urls: z.array(imageField("An image")).min(2).max(10).optional().describe("URLs of images, 2 to 10"),
  run_ids: z.array(runEntry("A run")).min(2).max(10).optional().describe("Runs whose images are used, 2 to 10"),
  images: z
    .array(imageField("An image as a URL, base64 or run ID; in a form also as a file"))
    .min(1)
    .max(10)
    .optional()
    .describe("Images of any kind, in order, at most 10"),
  aspect_ratio: aspectRatio().optional(),
  ...runFields,
};

export const combineRules = [totalItemsBetween(LISTS, [2, 10])];

export const combinePlan = (model: string, input: z.output<z.ZodObject<typeof combineFields>>): Job[] => [
  {
    task: "image.edit",
    model,
    prompt: input.prompt,
    images: LISTS.flatMap((list) => input[list] ?? []).map(parseSource),
    aspect_ratio: input.aspect_ratio,
  },
];
