// Translates make_image to images.generate.
import { generateImage } from "../../../operations/images/generate.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, type IsOffered } from "../tool.ts";

/** Models that need only a prompt, in the order in which they replace the default model if no provider offers it. */
const SIMPLE_MODELS = ["flux-dev", "nanobanana", "vendora", "vendorb-imagen4", "vendorc"];

const defaultModel = (isOffered: IsOffered): string | undefined =>
  SIMPLE_MODELS.find((model) => isOffered("image.generate", model));

export const makeImageTool = defineRunTool({
  name: "make_image",
  title: "Make an image",
  description: "Generate one to four images from a text.",
  fields: {
    ...fieldsOf(generateImage, "prompt", "negative_prompt", "aspect_ratio", "width", "height", "seed"),
    model: fieldOf(generateImage, "model_type"),
    count: fieldOf(generateImage, "batch_size"),
  },
  translate: ({ model, count, ...input }, isOffered) => ({
    operation: generateImage,
    input: definedFields({ ...input, model_type: model ?? defaultModel(isOffered), batch_size: count }),
    names: { model_type: "model", batch_size: "count" },
  }),
});
