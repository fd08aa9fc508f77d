import { z } from "zod";
import { executingModel, runFields, seed } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

export const varyImage = defineRun({
  name: "images.vary",
  summary: "Create variations of an image",
  http: { method: "POST", path: "/edits/vary", bodies: ["json", "form"] },
  run_type: "variation",

  input: z.object({
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    image: sourceFileField("Source image as a file. Takes precedence over the other sources").optional(),
    n: z.int().min(1).max(4).default(2).describe("Number of variations, 1 to 4. Default: 2"),
    seed: seed(),
    model: executingModel(),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Run,
  example: { image_url: "https://example.com/desk.png", n: 2, seed: 7 },

  parent: (input) => input.run_id,
  plan: (input) => [
    {
      task: "image.edit",
      model: input.model ?? DEFAULT_MODELS["image.edit"],
      prompt: "A variation of this picture, alike and yet its own",
      images: [firstSource(input.image, input.image_url, selectedOutput(input.run_id, input))!],
      seed: input.seed,
      count: input.n,
    },
  ],
  renderResponse: (run) => run,
});
