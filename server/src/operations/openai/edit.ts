// The edit of the OpenAI-compatible API. It is not in the public contract: that API takes up to 16 images and any model
// that edits, which no single operation of the contract does. Its runs are ordinary runs and can be repeated.
import { z } from "zod";
import { aspectRatio, modelToUse, promptField, runFields, seed } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import { defineRun } from "../../contract/operation.ts";
import { asGeneration, Generation } from "../../contract/schemas/run.ts";
import { aspectRatioIgnored, planWithinMask } from "../images/mask-blend.ts";

/** The names of the interface that have offers for image.edit. */
const EDIT_MODELS = ["edit-default", "vendora", "flux-kontext-max", "nanobanana", "gemini-2.5"] as const;

export const editForOpenAi = defineRun({
  name: "images.edit.openai",
  summary: "Edit 1 to 16 images by prompt, optionally within a mask on the first image",
  http: { method: "POST", path: "/images/edits", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({
    prompt: promptField("Text that describes the change, 1 to 8,000 characters"),
    model_type: modelToUse(EDIT_MODELS, "Model to use. Default: edit-default").default("edit-default"),
    images: z.array(imageField("An image")).min(1).max(16).describe("Images, the one to edit first, at most 16"),
    mask: imageField("Mask in the shape of the first image. White marks the area that changes").optional(),
    aspect_ratio: aspectRatio().optional(),
    n: z.int().min(1).max(10).default(1).describe("Number of images, 1 to 10. Default: 1"),
    seed: seed(),
    ...runFields,
  }),
  output: Generation,
  example: { prompt: "make the lamp blue", images: ["https://example.com/desk.png"] },

  modelField: "model_type",
  // A run is named only as an image, so the run of the first image becomes the parent.
  parent: () => undefined,
  adjustments: (input, provided) => (input.mask === undefined ? [] : aspectRatioIgnored(provided)),
  plan: ({ prompt, model_type, images, mask, aspect_ratio, n, seed }) =>
    planWithinMask({
      task: "image.edit",
      model: model_type,
      prompt,
      images: images.map(parseSource),
      mask: mask === undefined ? undefined : parseSource(mask),
      aspect_ratio: mask === undefined ? aspect_ratio : undefined,
      seed,
      count: n,
    }),
  renderResponse: asGeneration,
});
