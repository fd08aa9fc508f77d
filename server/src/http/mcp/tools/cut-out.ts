// Translates cut_out to images.extract, or to images.backgroundRemove without a prompt.
import { backgroundRemove } from "../../../operations/images/background-remove.ts";
import { extractObjects } from "../../../operations/images/extract.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, imageOf } from "../tool.ts";

export const cutOutTool = defineRunTool({
  name: "cut_out",
  title: "Cut out an object or remove the background",
  description:
    "With a prompt, find the objects that it names and return them on a transparent background, or their masks. " +
    "Without a prompt, remove the background.",
  fields: {
    image: fieldOf(extractObjects, "image_url"),
    prompt: fieldOf(extractObjects, "prompt").optional(),
    ...fieldsOf(extractObjects, "mode", "multiple", "invert", "output_index"),
  },
  required: ["image"],
  translate: ({ image, output_index, ...input }) => ({
    // Without a prompt, the other fields of `extract` are unknown, and validation says so.
    operation: input.prompt === undefined ? backgroundRemove : extractObjects,
    input: definedFields({ ...input, image_url: imageOf(image, { output_index }) }),
    names: { image_url: "image" },
  }),
});
