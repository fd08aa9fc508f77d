import { z } from "zod";
import { aspectRatio, executingModel, promptField, runFields, seed, textField } from "../../contract/fields.ts";
import { firstSource, imageField } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { exactlyOne } from "../../contract/rules.ts";
import { selectedOutput, sourceRun } from "../../contract/run-outputs.ts";
import { Video, VideoError } from "../../contract/schemas/run.ts";

export const generateVideo = defineRun({
  name: "generateVideo",
  summary: "Create a video that starts with an image",
  http: { method: "POST", path: "/runs/video", bodies: ["json"] },
  run_type: "video-generation",

  input: z.object({
    prompt: promptField("Text that describes the video, 1 to 8,000 characters").optional(),
    negative_prompt: textField("Text that describes what the video must not show").optional(),
    image_url: imageField("First frame of the video").optional(),
    ...sourceRun("source_run_id", "Run whose image is the first frame. It becomes the parent"),
    aspect_ratio: aspectRatio("Aspect ratio of the video. Default: 16:9").default("16:9"),
    duration: z.number().min(1).max(60).default(3).describe("Duration in seconds, 1 to 60. Default: 3"),
    seed: seed(),
    cfg_scale: z
      .number()
      .min(0)
      .max(30)
      .optional()
      .describe("Classifier-free guidance, 0 to 30. A higher value follows the prompt more closely"),
    motion_bucket_id: z.int().min(1).max(255).optional().describe("Amount of motion, 1 to 255"),
    fps: z.int().min(1).max(60).optional().describe("Frames per second, 1 to 60"),
    model: executingModel(),
    ...runFields,
  }),
  rules: [exactlyOne("image_url", "source_run_id")],
  output: Video,
  example: { image_url: "https://example.com/beach.png", prompt: "waves roll in", duration: 2 },

  deadlineSeconds: 3600,
  parent: (input) => input.source_run_id,
  plan: (input, provided) => [
    {
      task: "video.generate",
      model: input.model ?? DEFAULT_MODELS["video.generate"],
      prompt: input.prompt,
      negative_prompt: input.negative_prompt,
      images: [firstSource(input.image_url, selectedOutput(input.source_run_id, input))!],
      // Aspect ratio and duration are always sent, because the API promises them. Other options only if the caller set
      // them.
      aspect_ratio: input.aspect_ratio,
      seed: input.seed,
      options: { duration: input.duration, ...pickProvided(input, provided, ["fps", "cfg_scale", "motion_bucket_id"]) },
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
  errorOutput: VideoError,
});
