import { z } from "zod";
import { filename, promptField, runId, syncRunFields } from "../../kit/fields.ts";
import { fileField } from "../../kit/files.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne, onlyInForm, onlyInJson, required } from "../../kit/rules.ts";
import { Run } from "../../kit/schemas/run.ts";

export const segmentImage = defineOperation({
  name: "images.segmentImage",
  summary: "Segment the object named by a prompt; returns its mask (white: object)",
  http: { method: "POST", path: "/edits/segment", bodies: ["json", "form"] },
  run_type: "segment",

  input: z.object({
    prompt: promptField("What to find"),
    imageUrl: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image: fileField("The image as a file; it goes before the others").optional(),
    filename: filename(),
    ...syncRunFields,
  }),
  rules: [onlyInJson(atLeastOne("imageUrl", "run_id")), onlyInForm(required("image"))],
  output: Run,
  example: { prompt: "the red circle", imageUrl: "https://example.com/shapes.png" },

  responseKind: "image",
  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.segment",
      model: "segment-default",
      prompt: asked.prompt,
      images: [firstSource(asked.image, asked.imageUrl, asked.run_id)!],
      count: 1,
    },
  ],
  renderResponse: (run) => run,
});
