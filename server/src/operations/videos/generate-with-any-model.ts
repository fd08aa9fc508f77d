// The video with any model, from a text alone or from its first frame. generateVideo stays beside it, with the fields
// of the interface document.
import { z } from "zod";
import { aspectRatio, executingModel, promptField, runFields, seed, textField } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { pickProvided } from "../../contract/provided-fields.ts";
import { Run } from "../../contract/schemas/run.ts";
import { generateVideo } from "./generate.ts";

const { fps, cfg_scale, motion_bucket_id } = generateVideo.input.shape;

export const createVideo = defineRun({
  name: "videos.generate",
  summary: "Create a video with any model from a prompt, optionally with its first frame",
  http: { method: "POST", path: "/videos", bodies: ["json"] },
  run_type: "video-generation",

  input: z.object({
    prompt: promptField("Text that describes the video, 1 to 8,000 characters"),
    image: imageField("First frame of the video. Its run becomes the parent").optional(),
    negative_prompt: textField("Text that describes what the video must not show").optional(),
    aspect_ratio: aspectRatio("Aspect ratio of the video. Default: 16:9").default("16:9"),
    duration: z.number().min(1).max(60).default(3).describe("Duration in seconds, 1 to 60. Default: 3"),
    seed: seed(),
    cfg_scale,
    motion_bucket_id,
    fps,
    model: executingModel(),
    ...runFields,
  }),
  output: Run,
  example: { prompt: "waves roll in at dawn", duration: 5 },

  deadlineSeconds: 3600,
  // A run is named only as an image, so the run of the image becomes the parent.
  parent: () => undefined,
  plan: (input, provided) => [
    {
      task: "video.generate",
      model: input.model ?? DEFAULT_MODELS["video.generate"],
      prompt: input.prompt,
      negative_prompt: input.negative_prompt,
      images: input.image === undefined ? undefined : [parseSource(input.image)],
      aspect_ratio: input.aspect_ratio,
      seed: input.seed,
      options: { duration: input.duration, ...pickProvided(input, provided, ["fps", "cfg_scale", "motion_bucket_id"]) },
    },
  ],
  renderResponse: (run) => run,
});
