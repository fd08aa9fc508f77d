import { z } from "zod";
import { executingModel, filename, syncRunFields } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { atLeastOne, onlyInForm, onlyInJson, required } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

export const removeBackground = defineRun({
  name: "images.removeBackground",
  summary: "Remove the background. Returns a transparent PNG",
  http: { method: "POST", path: "/edits/remove-bg", bodies: ["json", "form"] },
  run_type: "background-removal",

  input: z.object({
    imageUrl: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    image: sourceFileField("Source image as a file. Takes precedence over the other sources").optional(),
    filename: filename(),
    model: executingModel(),
    ...syncRunFields,
  }),
  rules: [onlyInJson(atLeastOne("imageUrl", "run_id")), onlyInForm(required("image"))],
  output: Run,
  example: { imageUrl: "https://example.com/portrait.png" },

  responseKind: "image",
  parent: (input) => input.run_id,
  plan: (input) => [
    {
      task: "image.remove-background",
      model: input.model ?? DEFAULT_MODELS["image.remove-background"],
      images: [firstSource(input.image, input.imageUrl, selectedOutput(input.run_id, input))!],
    },
  ],
  renderResponse: (run) => run,
});
