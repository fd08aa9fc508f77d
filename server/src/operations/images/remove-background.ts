import { z } from "zod";
import { filename, runId, syncRunFields } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne, onlyInForm, onlyInJson, required } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";

export const removeBackground = defineOperation({
  name: "images.removeBackground",
  summary: "Take the background away; answers a transparent PNG",
  http: { method: "POST", path: "/edits/remove-bg", bodies: ["json", "form"] },
  run_type: "background-removal",

  input: z.object({
    imageUrl: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image: fileField("The image as a file; it goes before the others").optional(),
    filename: filename(),
    ...syncRunFields,
  }),
  rules: [onlyInJson(atLeastOne("imageUrl", "run_id")), onlyInForm(required("image"))],
  output: Run,
  example: { imageUrl: "https://example.com/portrait.png" },

  responseKind: "image",
  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.remove-background",
      model: "remove-background-default",
      images: [firstSource(asked.image, asked.imageUrl, asked.run_id)!],
    },
  ],
  renderResponse: (run) => run,
});
