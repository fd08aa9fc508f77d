import { z } from "zod";
import { executingModel, syncRunFields } from "../../contract/fields.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { BackgroundRemoved } from "../../contract/schemas/run.ts";

export const backgroundRemove = defineRun({
  name: "images.backgroundRemove",
  summary: "Remove the background. Returns the URL of the transparent image",
  http: { method: "POST", path: "/edits/background-remove", bodies: ["json"] },
  run_type: "background-removal",

  input: z.object({
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    model: executingModel(),
    ...syncRunFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: BackgroundRemoved,
  example: { image_url: "https://example.com/portrait.png" },

  failsAsError: true,
  parent: (input) => input.run_id,
  plan: (input) => [
    {
      task: "image.remove-background",
      model: input.model ?? DEFAULT_MODELS["image.remove-background"],
      images: [firstSource(input.image_url, selectedOutput(input.run_id, input))!],
    },
  ],
  renderResponse: (run) => ({
    url: run.image_url,
    runId: run.run_id,
    ...(run.parent_run_id && { parentRunId: run.parent_run_id }),
  }),
});
