import { z } from "zod";
import { executingModel, runFields } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

export const upscaleImage = defineRun({
  name: "images.upscale",
  summary: "Upscale an image 2 or 4 times",
  http: { method: "POST", path: "/edits/upscale", bodies: ["json", "form"] },
  run_type: "upscale",

  input: z.object({
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    image: sourceFileField("Source image as a file. Takes precedence over the other sources").optional(),
    factor: z
      .union([z.literal(2), z.literal(4)])
      .default(2)
      .describe("Upscaling factor per side: 2 or 4. Default: 2"),
    model: executingModel(),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Run,
  example: { image_url: "https://example.com/desk.png", factor: 2 },

  parent: (input) => input.run_id,
  plan: (input) => [
    {
      task: "image.upscale",
      model: input.model ?? DEFAULT_MODELS["image.upscale"],
      images: [firstSource(input.image, input.image_url, selectedOutput(input.run_id, input))!],
      options: { factor: input.factor },
    },
  ],
  renderResponse: (run) => run,
});
