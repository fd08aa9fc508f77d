import { z } from "zod";
import { runFields, runId, seed } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";

export const varyImage = defineOperation({
  name: "images.vary",
  summary: "Make variations of an image",
  http: { method: "POST", path: "/edits/vary", bodies: ["json", "form"] },
  run_type: "variation",

  input: z.object({
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image: fileField("The image as a file; it goes before the others").optional(),
    n: z.int().min(1).max(4).default(2).describe("How many variations"),
    seed: seed(),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Run,
  example: { image_url: "https://example.com/desk.png", n: 2, seed: 7 },

  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.edit",
      model: "edit-default",
      prompt: "A variation of this picture, alike and yet its own",
      images: [firstSource(asked.image, asked.image_url, asked.run_id)!],
      seed: asked.seed,
      count: asked.n,
    },
  ],
  renderResponse: (run) => run,
});
