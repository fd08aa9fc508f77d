import { z } from "zod";
import { aspectRatio, promptField, runFields, runId, seed, textField } from "../../kit/fields.ts";
import { firstSource, imageField } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { pickProvided } from "../../kit/provided-fields.ts";
import { exactlyOne } from "../../kit/rules.ts";
import { Video } from "../../kit/schemas/run.ts";

export const generateVideo = defineOperation({
  name: "generateVideo",
  summary: "Make a video that begins with an image",
  http: { method: "POST", path: "/runs/video", bodies: ["json"] },
  run_type: "video-generation",

  input: z.object({
    prompt: promptField("What happens in the video").optional(),
    negative_prompt: textField("What the video must not show").optional(),
    image_url: imageField("The image that it begins with").optional(),
    source_run_id: runId("The run whose image it begins with; it becomes the parent").optional(),
    aspect_ratio: aspectRatio("Shape of the video").default("16:9"),
    duration: z.number().min(1).max(60).default(3).describe("Seconds"),
    seed: seed(),
    cfg_scale: z.number().min(0).max(30).optional().describe("Higher follows the prompt more closely"),
    motion_bucket_id: z.int().min(1).max(255).optional().describe("How much moves"),
    fps: z.int().min(1).max(60).optional().describe("Frames per second"),
    ...runFields,
  }),
  rules: [exactlyOne("image_url", "source_run_id")],
  output: Video,
  example: { image_url: "https://example.com/beach.png", prompt: "waves roll in", duration: 2 },

  deadlineSeconds: 3600,
  parent: (asked) => asked.source_run_id,
  plan: (asked, given) => [
    {
      task: "video.generate",
      model: "video-default",
      prompt: asked.prompt,
      negative_prompt: asked.negative_prompt,
      images: [firstSource(asked.image_url, asked.source_run_id)!],
      // Shape and length are what the caller gets, so they are always said; the rest is left to the model.
      aspect_ratio: asked.aspect_ratio,
      seed: asked.seed,
      options: { duration: asked.duration, ...pickProvided(asked, given, ["fps", "cfg_scale", "motion_bucket_id"]) },
    },
  ],
  renderResponse: (run) => ({ ...run, input: run.inputs }),
  renderError: ({ message, code, details }) => ({
    message,
    code,
    details,
    status: "failed",
    error: { message, code, details },
  }),
});
