import { z } from "zod";
import { executingModel, syncRunFields, textField } from "../../contract/fields.ts";
import { sourceFileField } from "../../contract/files.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { atLeastOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Description } from "../../contract/schemas/run.ts";

export const describeImage = defineRun({
  name: "images.describe",
  summary: "Describe an image",
  http: { method: "POST", path: "/images/describe", bodies: ["json", "form"] },
  run_type: "describe",

  input: z.object({
    image_url: imageField("Source image").optional(),
    ...sourceRun("run_id", "Run whose image to describe. It becomes the parent"),
    image: sourceFileField("Source image as a file. Takes precedence over the other sources").optional(),
    detail: z
      .enum(["short", "normal", "long"])
      .default("normal")
      .describe("Length of the description. Default: normal"),
    language: textField("Language of the description, such as en or de", 64).optional(),
    model: executingModel(),
    ...syncRunFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Description,
  example: { image_url: "https://example.com/desk.png", detail: "short" },

  parent: (input) => input.run_id,
  plan: (input, provided) => [
    {
      task: "image.describe",
      model: input.model ?? DEFAULT_MODELS["image.describe"],
      images: [firstSource(input.image, input.image_url, selectedOutput(input.run_id, input))!],
      options: { detail: input.detail, ...pickProvided(input, provided, ["language"]) },
    },
  ],
  resultFields: ["description", "tags", "prompt", "width", "height"],
  renderResponse: (run, { data }) => {
    const { description, tags, prompt, width, height } = data ?? {};
    return {
      run_id: run.run_id,
      status: run.status,
      ...(data && { description, tags, prompt, width, height }),
      ...(run.error && { error: run.error }),
    };
  },
});
