// Translates describe_image to images.describe.
import { describeImage } from "../../../operations/images/describe.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, imageOf } from "../tool.ts";

export const describeImageTool = defineRunTool({
  name: "describe_image",
  title: "Describe an image",
  description: "Describe an image in words, with keywords and a prompt for a similar image.",
  fields: {
    image: fieldOf(describeImage, "image_url"),
    ...fieldsOf(describeImage, "detail", "language", "output_index", "frame"),
  },
  required: ["image"],
  translate: ({ image, output_index, frame, ...input }) => ({
    operation: describeImage,
    input: definedFields({ ...input, image_url: imageOf(image, { output_index, frame }) }),
    names: { image_url: "image" },
  }),
});
