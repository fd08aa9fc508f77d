import { z } from "zod";
import { executingModel, promptField, runFields } from "../../contract/fields.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

export const generativeRemove = defineRun({
  name: "images.genRemove",
  aliases: ["images.generativeRemove"],
  summary: "Remove an object from an image and fill the area",
  http: { method: "POST", path: "/edits/generative-remove", bodies: ["json"] },
  run_type: "generative-remove",

  input: z.object({
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    prompt: promptField("Text that names the object, 1 to 8,000 characters"),
    remove_shadow: z.boolean().default(true).describe("Also remove the shadow of the object. Default: true"),
    multiple: z.boolean().default(false).describe("Remove all matching objects. Default: false, the best match only"),
    model: executingModel(),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: Run,
  example: { image_url: "https://example.com/shapes.png", prompt: "the red circle" },

  parent: (input) => input.run_id,
  plan: (input) => [
    {
      task: "image.remove",
      model: input.model ?? DEFAULT_MODELS["image.remove"],
      prompt: input.prompt,
      images: [firstSource(input.image_url, selectedOutput(input.run_id, input))!],
      // Always sent: the API documents defaults for both, so the defaults of the provider must not apply.
      options: { remove_shadow: input.remove_shadow, multiple: input.multiple },
    },
  ],
  renderResponse: (run) => run,
});
