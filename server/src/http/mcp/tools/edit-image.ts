// Translates edit_image to the edit operation of the model.
import type { Operation } from "../../../contract/operation.ts";
import { editFluxKontext } from "../../../operations/images/edit-flux-kontext.ts";
import { editGemini25 } from "../../../operations/images/edit-gemini25.ts";
import { editNanobanana } from "../../../operations/images/edit-nanobanana.ts";
import { editVendora } from "../../../operations/images/edit-vendora.ts";
import { defineRunTool, modelField } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, type IsOffered, imageOf, type ToolTranslation } from "../tool.ts";

const OPERATIONS: Record<string, Operation> = {
  "gemini-2.5": editGemini25,
  vendora: editVendora,
  nanobanana: editNanobanana,
  "flux-kontext-max": editFluxKontext,
};
const WITH_MASK = ["gemini-2.5", "vendora"];
/** flux-kontext-max edits runs only, so it is never the default. */
const DEFAULTS = ["gemini-2.5", "vendora", "nanobanana"];

function defaultModel(isOffered: IsOffered, hasMask: boolean): string {
  const candidates = hasMask ? WITH_MASK : DEFAULTS;
  return candidates.find((model) => isOffered("image.edit", model)) ?? candidates[0]!;
}

export const editImageTool = defineRunTool({
  name: "edit_image",
  title: "Edit an image",
  description: "Change an image by a text. With a mask, only its white area changes; cut_out makes masks of objects.",
  fields: {
    image: fieldOf(editGemini25, "image_url"),
    ...fieldsOf(editGemini25, "prompt"),
    mask: fieldOf(editGemini25, "mask_url"),
    reference: fieldOf(editGemini25, "reference_image_url"),
    ...fieldsOf(editGemini25, "aspect_ratio", "seed", "output_index"),
    model: modelField(OPERATIONS, "Model to use. A mask needs gemini-2.5 or vendora; flux-kontext-max edits only runs"),
  },
  required: ["image"],
  translate({ image, mask, reference, output_index, model: wanted, ...input }, isOffered): ToolTranslation {
    const model = String(wanted ?? defaultModel(isOffered, mask !== undefined));
    const operation = OPERATIONS[model] ?? editGemini25;
    if (operation === editFluxKontext)
      return {
        operation,
        input: definedFields({ ...input, model, original_run_id: image, output_index, mask, reference }),
        names: { original_run_id: "image" },
      };
    return {
      operation,
      input: definedFields({
        ...input,
        image_url: imageOf(image, { output_index }),
        mask_url: mask,
        reference_image_url: reference,
      }),
      names: { image_url: "image", mask_url: "mask", reference_image_url: "reference" },
    };
  },
});
