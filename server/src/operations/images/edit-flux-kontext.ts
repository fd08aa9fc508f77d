import { z } from "zod";
import { promptField, runFields, runId, seed } from "../../kit/fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { onlyInJson, required } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";
import { FLUX_KONTEXT_ASPECT_RATIOS } from "../../models.ts";

export const editFluxKontext = defineOperation({
  name: "images.edit.fluxKontext",
  summary: "Edit the image of an earlier run in words",
  http: { method: "POST", path: "/edits/flux-kontext", bodies: ["json", "form"] },
  run_type: "image-edit",

  input: z.object({
    original_run_id: runId("The run whose image is edited; it becomes the parent"),
    prompt: promptField("What to change"),
    aspect_ratio: z
      .enum(["match_input_image", ...FLUX_KONTEXT_ASPECT_RATIOS])
      .default("match_input_image")
      .describe("Shape of the result; that of the source where nothing is said"),
    seed: seed(),
    model: z.literal("flux-kontext-max").default("flux-kontext-max").describe("The model that edits; needed in JSON"),
    ...runFields,
  }),
  rules: [onlyInJson(required("model"))],
  output: Run,
  example: {
    original_run_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d",
    prompt: "make it snow",
    model: "flux-kontext-max",
  },

  parent: (asked) => asked.original_run_id,
  plan: (asked) => [
    {
      task: "image.edit",
      model: asked.model,
      prompt: asked.prompt,
      images: [{ run: asked.original_run_id }],
      // The provider's own default keeps the shape of the source image.
      aspect_ratio: asked.aspect_ratio === "match_input_image" ? undefined : asked.aspect_ratio,
      seed: asked.seed,
    },
  ],
  renderResponse: (run) => run,
});
