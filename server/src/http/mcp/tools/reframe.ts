// Translates reframe to images.reframe.
import { reframeImage } from "../../../operations/images/reframe.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, imageOf } from "../tool.ts";

export const reframeTool = defineRunTool({
  name: "reframe",
  title: "Change the aspect ratio",
  description: "Extend an image to another aspect ratio. The new area is painted, and nothing is cut off.",
  fields: {
    image: fieldOf(reframeImage, "image_url"),
    ...fieldsOf(reframeImage, "aspect_ratio", "prompt", "model", "output_index"),
  },
  required: ["image"],
  translate: ({ image, output_index, ...input }) => ({
    operation: reframeImage,
    input: definedFields({ ...input, image_url: imageOf(image, { output_index }) }),
    names: { image_url: "image" },
  }),
});
