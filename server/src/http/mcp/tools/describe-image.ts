import { describeImage as describe } from "../../../operations/images/describe.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, imageOf } from "../tool.ts";

export const describeImage = defineRunTool({
  name: "describe_image",
  title: "Describe an image",
  description: "Describe an image in words, with keywords and a prompt for a similar image.",
  fields: {
    image: fieldOf(describe, "image_url"),
    ...fieldsOf(describe, "detail", "language", "output_index", "frame"),
  },
  required: ["image"],
  translate: ({ image, output_index, frame, ...input }) => ({
    operation: describe,
    input: definedFields({ ...input, image_url: imageOf(image, { output_index, frame }) }),
    names: { image_url: "image" },
  }),
});
