// Translates erase to images.genRemove, or to edit.maskImage with a mask.
import { generativeRemove } from "../../../operations/images/generative-remove.ts";
import { maskImage } from "../../../operations/images/mask-image.ts";
import { defineRunTool } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, imageOf, type ToolTranslation } from "../tool.ts";

export const eraseTool = defineRunTool({
  name: "erase",
  title: "Erase an object",
  description:
    "Remove an object from an image and fill the area: the object that a prompt names, or the area of a mask.",
  fields: {
    image: fieldOf(generativeRemove, "image_url"),
    prompt: fieldOf(generativeRemove, "prompt").optional(),
    mask: fieldOf(maskImage, "mask_image_url").optional(),
    ...fieldsOf(generativeRemove, "remove_shadow", "multiple", "output_index"),
  },
  required: ["image"],
  translate({ image, mask, output_index, ...input }): ToolTranslation {
    const source = imageOf(image, { output_index });
    if (mask === undefined)
      return {
        operation: generativeRemove,
        input: definedFields({ ...input, image_url: source }),
        names: { image_url: "image" },
      };
    // A prompt would say what to paint there. An erased area is filled by what surrounds it.
    const { prompt: _prompt, ...others } = input;
    return {
      operation: maskImage,
      input: definedFields({ ...others, original_image_url: source, mask_image_url: mask }),
      names: { original_image_url: "image", mask_image_url: "mask" },
    };
  },
});
