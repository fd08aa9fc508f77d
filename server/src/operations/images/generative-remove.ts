import { z } from "zod";
import { promptField, runFields, runId } from "../../kit/fields.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";

export const generativeRemove = defineOperation({
  name: "images.genRemove",
  aliases: ["images.generativeRemove"],
  summary: "Take something out of an image and fill its place",
  http: { method: "POST", path: "/edits/generative-remove", bodies: ["json"] },
  run_type: "generative-remove",

  input: z.object({
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    prompt: promptField("What to take out"),
    remove_shadow: z.boolean().default(true).describe("Its shadow goes with it"),
    multiple: z.boolean().default(false).describe("All that the prompt fits, not only the best match"),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: Run,
  example: { image_url: "https://example.com/shapes.png", prompt: "the red circle" },

  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.remove",
      model: "remove-default",
      prompt: asked.prompt,
      images: [firstSource(asked.image_url, asked.run_id)!],
      // Both are a promise of ours, so a provider's own default does not decide them.
      options: { remove_shadow: asked.remove_shadow, multiple: asked.multiple },
    },
  ],
  renderResponse: (run) => run,
});
