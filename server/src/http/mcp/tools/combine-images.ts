// Translates combine_images to the combine operation of the model, or to images.combine without a prompt.
import type { Operation } from "../../../contract/operation.ts";
import { combineImages } from "../../../operations/images/combine.ts";
import { combineGemini25 } from "../../../operations/images/combine-gemini25.ts";
import { combineNanobanana } from "../../../operations/images/combine-nanobanana.ts";
import { defineRunTool, modelField } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf } from "../tool.ts";

const OPERATIONS: Record<string, Operation> = { "gemini-2.5": combineGemini25, nanobanana: combineNanobanana };

export const combineImagesTool = defineRunTool({
  name: "combine_images",
  title: "Combine images",
  description:
    "Combine 2 to 10 images in one. With a prompt, a model makes a new image of them. Without a prompt, they are " +
    "placed side by side, stacked, in a grid or as an overlay.",
  fields: {
    images: fieldOf(combineImages, "images"),
    prompt: fieldOf(combineGemini25, "prompt").optional(),
    ...fieldsOf(combineGemini25, "aspect_ratio"),
    ...fieldsOf(combineImages, "mode", "gap", "background"),
    model: modelField(OPERATIONS, "Model to use with a prompt"),
  },
  translate({ model, ...input }, isOffered) {
    const names = Object.keys(OPERATIONS);
    const wanted = String(model ?? names.find((each) => isOffered("image.edit", each)) ?? names[0]);
    const operation = input.prompt === undefined ? combineImages : (OPERATIONS[wanted] ?? combineGemini25);
    return { operation, input: definedFields(input) };
  },
});
