import { z } from "zod";
import { promptField, runFields, seed } from "../../contract/fields.ts";
import { parseSource } from "../../contract/image-fields.ts";
import { FLUX_KONTEXT_ASPECT_RATIOS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { onlyInJson, required } from "../../contract/rules.ts";
import { requiredSourceRun, selectedOutput } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

export const editFluxKontext = defineRun({
  name: "images.edit.fluxKontext",
  summary: "Edit the image of an earlier run by prompt",
  http: { method: "POST", path: "/edits/flux-kontext", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({
    ...requiredSourceRun("original_run_id", "Run whose image to edit. It becomes the parent"),
    prompt: promptField("Text that describes the change, 1 to 8,000 characters"),
    aspect_ratio: z
      .enum(["match_input_image", ...FLUX_KONTEXT_ASPECT_RATIOS])
      .default("match_input_image")
      .describe("Aspect ratio of the result. Default: match_input_image"),
    seed: seed(),
    model: z.literal("flux-kontext-max").default("flux-kontext-max").describe("Model to use. Required in JSON bodies"),
    ...runFields,
  }),
  rules: [onlyInJson(required("model"))],
  output: Run,
  example: {
    original_run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d",
    prompt: "make it snow",
    model: "flux-kontext-max",
  },

  parent: (input) => input.original_run_id,
  plan: (input) => [
    {
      task: "image.edit",
      model: input.model,
      prompt: input.prompt,
      images: [parseSource(selectedOutput(input.original_run_id, input))],
      // The provider's own default keeps the shape of the source image.
      aspect_ratio: input.aspect_ratio === "match_input_image" ? undefined : input.aspect_ratio,
      seed: input.seed,
    },
  ],
  renderResponse: (run) => run,
});
