import { z } from "zod";
import { runFields, runId } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";

export const upscaleImage = defineOperation({
  name: "images.upscale",
  summary: "Enlarge an image two or four times",
  http: { method: "POST", path: "/edits/upscale", bodies: ["json", "form"] },
  run_type: "upscale",

  input: z.object({
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image: fileField("The image as a file; it goes before the others").optional(),
    factor: z
      .union([z.literal(2), z.literal(4)])
      .default(2)
      .describe("How many times larger each side becomes"),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Run,
  example: { image_url: "https://example.com/desk.png", factor: 2 },

  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.upscale",
      model: "upscale-default",
      images: [firstSource(asked.image, asked.image_url, asked.run_id)!],
      options: { factor: asked.factor },
    },
  ],
  renderResponse: (run) => run,
});
