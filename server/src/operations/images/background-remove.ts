import { z } from "zod";
import { runId, syncRunFields } from "../../kit/fields.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { atLeastOne } from "../../kit/rules.ts";
import { BackgroundRemoved } from "../../kit/schemas/run.ts";

export const backgroundRemove = defineOperation({
  name: "images.backgroundRemove",
  summary: "Remove the background; returns the URL of the transparent image",
  http: { method: "POST", path: "/edits/background-remove", bodies: ["json"] },
  run_type: "background-removal",

  input: z.object({
    image_url: imageField("The image").optional(),
    run_id: runId("The run whose image is used; it becomes the parent").optional(),
    ...syncRunFields,
  }),
  rules: [atLeastOne("image_url", "run_id")],
  output: BackgroundRemoved,
  example: { image_url: "https://example.com/portrait.png" },

  failsAsError: true,
  parent: (asked) => asked.run_id,
  plan: (asked) => [
    {
      task: "image.remove-background",
      model: "remove-background-default",
      images: [firstSource(asked.image_url, asked.run_id)!],
    },
  ],
  renderResponse: (run) => ({
    url: run.image_url,
    runId: run.run_id,
    ...(run.parent_run_id && { parentRunId: run.parent_run_id }),
  }),
});
