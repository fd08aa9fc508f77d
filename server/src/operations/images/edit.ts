// The edit with any model. The operations that have a model in their name stay beside it, with the fields of the
// interface document.
import { z } from "zod";
import { aspectRatio, executingModel, promptField, runFields, seed } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { Run } from "../../contract/schemas/run.ts";
import { aspectRatioIgnored, planWithinMask } from "./mask-blend.ts";

export const editImage = defineRun({
  name: "images.edit",
  summary: "Edit an image by prompt with any model, optionally within a mask and with reference images",
  http: { method: "POST", path: "/edits", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({
    prompt: promptField("Text that describes the change, 1 to 8,000 characters"),
    image: imageField("Image to edit. Its run becomes the parent"),
    mask: imageField("Mask in the shape of the image. White marks the area that changes").optional(),
    references: z
      .array(imageField("A reference image"))
      .min(1)
      .max(9)
      .optional()
      .describe("Reference images for style or content, at most 9. How many a model takes is in catalogue.get"),
    aspect_ratio: aspectRatio().optional(),
    n: z.int().min(1).max(4).default(1).describe("Number of images, 1 to 4. Default: 1"),
    seed: seed(),
    model: executingModel(),
    ...runFields,
  }),
  output: Run,
  example: { image: "https://example.com/desk.png", prompt: "make the lamp blue" },

  // A run is named only as an image, so the run of the first image becomes the parent.
  parent: () => undefined,
  adjustments: (input, provided) => (input.mask === undefined ? [] : aspectRatioIgnored(provided)),
  plan: ({ prompt, image, mask, references = [], aspect_ratio, n, seed, model }) =>
    planWithinMask({
      task: "image.edit",
      model: model ?? DEFAULT_MODELS["image.edit"],
      prompt,
      images: [image, ...references].map(parseSource),
      mask: mask === undefined ? undefined : parseSource(mask),
      aspect_ratio: mask === undefined ? aspect_ratio : undefined,
      seed,
      count: n,
    }),
  renderResponse: (run) => run,
});
