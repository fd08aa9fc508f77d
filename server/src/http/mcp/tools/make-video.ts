// Translates make_video to generateVideo.
import { generateVideo } from "../../../operations/videos/generate.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, imageOf } from "../tool.ts";

export const makeVideoTool = defineRunTool({
  name: "make_video",
  title: "Make a video",
  description: "Create a video that starts with an image. Videos take minutes: expect to continue with get_run.",
  fields: {
    image: fieldOf(generateVideo, "image_url"),
    ...fieldsOf(
      generateVideo,
      "prompt",
      "negative_prompt",
      "aspect_ratio",
      "duration",
      "seed",
      "output_index",
      "frame",
    ),
  },
  required: ["image"],
  translate: ({ image, output_index, frame, ...input }) => ({
    operation: generateVideo,
    input: definedFields({ ...input, image_url: imageOf(image, { output_index, frame }) }),
    names: { image_url: "image" },
  }),
});
