import { z } from "zod";
import { runFields, runId, textField } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { pickProvided } from "../../kit/provided-fields.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { Description } from "../../kit/schemas/run.ts";

export const describeImage = defineOperation({
  name: "images.describe",
  summary: "Say what an image shows",
  http: { method: "POST", path: "/images/describe", bodies: ["json", "form"] },
  run_type: "describe",

  input: z.object({
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is described; it becomes the parent").optional(),
    image: fileField("The image as a file; it goes before the others").optional(),
    detail: z.enum(["short", "normal", "long"]).default("normal").describe("How much is said"),
    language: textField("Language of the description, such as en or de", 64).optional(),
    ...runFields,
  }),
  rules: [atLeastOne("image_url", "run_id", "image")],
  output: Description,
  example: { image_url: "https://example.com/desk.png", detail: "short", sync: true },

  parent: (asked) => asked.run_id,
  plan: (asked, given) => [
    {
      task: "image.describe",
      model: "describe-default",
      images: [firstSource(asked.image, asked.image_url, asked.run_id)!],
      options: { detail: asked.detail, ...pickProvided(asked, given, ["language"]) },
    },
  ],
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
