import { z } from "zod";
import { filename, runId, waitedRun } from "../../kit/fields.ts";
import { file } from "../../kit/files.ts";
import { firstSource, picture } from "../../kit/images.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne, inForm, inJson, required } from "../../kit/rules.ts";
import { Run } from "../../kit/shapes.ts";

export const removeBackground = defineOperation({
  name: "images.removeBackground",
  summary: "Take the background away; answers a transparent PNG",
  http: { method: "POST", path: "/edits/remove-bg", bodies: ["json", "form"] },
  run_type: "background-removal",

  input: z.object({
    imageUrl: picture("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image: file("The image as a file; it goes before the others").optional(),
    filename: filename(),
    ...waitedRun,
  }),
  rules: [inJson(atLeastOne("imageUrl", "run_id")), inForm(required("image"))],
  output: Run,
  example: { imageUrl: "https://example.com/portrait.png" },

  answers: "image",
  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.remove-background",
      model: "remove-background-default",
      images: [firstSource(asked.image, asked.imageUrl, asked.run_id)!],
    },
  ],
  reply: (run) => run,
});
