import { z } from "zod";
import { executingModel, filename, promptField, syncRunFields } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { atLeastOne, onlyInForm, onlyInJson, required } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Run } from "../../contract/schemas/run.ts";

export const segmentImage = defineRun({
  name: "images.segmentImage",
  summary: "Segment the object that a prompt names. Returns its mask as PNG",
  http: { method: "POST", path: "/edits/segment", bodies: ["json", "form"] },
  run_type: "segment",

  input: z.object({
    prompt: promptField("Text that names the object, 1 to 8,000 characters"),
    imageUrl: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image is the source. It becomes the parent"),
    image: sourceFileField("Source image as a file. Takes precedence over the other sources").optional(),
    filename: filename(),
    model: executingModel(),
    ...syncRunFields,
  }),
  rules: [onlyInJson(atLeastOne("imageUrl", "run_id")), onlyInForm(required("image"))],
  output: Run,
  example: { prompt: "the red circle", imageUrl: "https://example.com/shapes.png" },

  responseKind: "image",
  parent: (input) => input.run_id,
  plan: (input) => [
    {
      task: "image.segment",
      model: input.model ?? DEFAULT_MODELS["image.segment"],
      prompt: input.prompt,
      images: [firstSource(input.image, input.imageUrl, selectedOutput(input.run_id, input))!],
      count: 1,
    },
  ],
  renderResponse: (run) => run,
});
