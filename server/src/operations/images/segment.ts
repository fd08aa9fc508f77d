import { z } from "zod";
import { filename, prompt, runId, waitedRun } from "../../kit/fields.ts";
import { file } from "../../kit/files.ts";
import { firstSource, picture } from "../../kit/images.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne, inForm, inJson, required } from "../../kit/rules.ts";
import { Run } from "../../kit/shapes.ts";

export const segmentImage = defineOperation({
  name: "images.segmentImage",
  summary: "Find what a prompt names in an image; answers its mask, white where it is",
  http: { method: "POST", path: "/edits/segment", bodies: ["json", "form"] },
  run_type: "segment",

  input: z.object({
    prompt: prompt("What to find"),
    imageUrl: picture("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    image: file("The image as a file; it goes before the others").optional(),
    filename: filename(),
    ...waitedRun,
  }),
  rules: [inJson(atLeastOne("imageUrl", "run_id")), inForm(required("image"))],
  output: Run,
  example: { prompt: "the red circle", imageUrl: "https://example.com/shapes.png" },

  answers: "image",
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
  reply: (run) => run,
});
