// The tools that create runs, in the order in which clients list them: each translates its arguments to an operation.
import type { Operation } from "../../../contract/operation.ts";
import { backgroundRemove } from "../../../operations/images/background-remove.ts";
import { combineImages } from "../../../operations/images/combine.ts";
import { combineGemini25 } from "../../../operations/images/combine-gemini25.ts";
import { combineNanobanana } from "../../../operations/images/combine-nanobanana.ts";
import { describeImage } from "../../../operations/images/describe.ts";
import { editImage } from "../../../operations/images/edit.ts";
import { editGemini25 } from "../../../operations/images/edit-gemini25.ts";
import { extractObjects } from "../../../operations/images/extract.ts";
import { generateImage } from "../../../operations/images/generate.ts";
import { generativeRemove } from "../../../operations/images/generative-remove.ts";
import { maskImage } from "../../../operations/images/mask-image.ts";
import { reframeImage } from "../../../operations/images/reframe.ts";
import { generateVideo } from "../../../operations/videos/generate.ts";
import { createVideo } from "../../../operations/videos/generate-with-any-model.ts";
import { defineRunTool, modelField } from "../run-tool.ts";
import { definedFields, fieldOf, fieldsOf, type IsOffered, imageOf, type Tool, type ToolTranslation } from "../tool.ts";

/** Models that need only a prompt, in the order in which they replace the default model if no provider offers it. */
const SIMPLE_MODELS = ["flux-dev", "nanobanana", "vendora", "vendorb-imagen4", "vendorc"];

const defaultModel = (isOffered: IsOffered): string | undefined =>
  SIMPLE_MODELS.find((model) => isOffered("image.generate", model));

/** Translates make_image to images.generate. */
const makeImageTool = defineRunTool({
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

/** Models that edit within a mask, in the order in which they replace the default model if no provider offers it. */
const EDITS_WITH_MASK = ["edit-default", "gemini-2.5", "vendora"];
const EDIT_DEFAULTS = [...EDITS_WITH_MASK, "nanobanana", "flux-kontext-max"];

const defaultEditModel = (isOffered: IsOffered, hasMask: boolean): string | undefined =>
  (hasMask ? EDITS_WITH_MASK : EDIT_DEFAULTS).find((model) => isOffered("image.edit", model));

/** Translates edit_image to images.edit. */
const editImageTool = defineRunTool({
  name: "edit_image",
  title: "Edit an image",
  description: "Change an image by a text. With a mask, only its white area changes; cut_out makes masks of objects.",
  fields: {
    ...fieldsOf(editImage, "image", "prompt", "mask"),
    reference: fieldOf(editGemini25, "reference_image_url"),
    ...fieldsOf(editImage, "aspect_ratio", "seed", "model"),
    output_index: fieldOf(editGemini25, "output_index"),
  },
  translate: ({ image, reference, output_index, model, ...input }, isOffered) => ({
    operation: editImage,
    input: definedFields({
      ...input,
      image: imageOf(image, { output_index }),
      references: reference === undefined ? undefined : [reference],
      model: model ?? defaultEditModel(isOffered, input.mask !== undefined),
    }),
    names: { references: "reference" },
  }),
});

/** Translates cut_out to images.extract, or to images.backgroundRemove without a prompt. */
const cutOutTool = defineRunTool({
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

/** Translates erase to images.genRemove, or to edit.maskImage with a mask. */
const eraseTool = defineRunTool({
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

/** Translates reframe to images.reframe. */
const reframeTool = defineRunTool({
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

const COMBINE_OPERATIONS: Record<string, Operation> = { "gemini-2.5": combineGemini25, nanobanana: combineNanobanana };

/** Translates combine_images to the combine operation of the model, or to images.combine without a prompt. */
const combineImagesTool = defineRunTool({
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
    model: modelField(COMBINE_OPERATIONS, "Model to use with a prompt"),
  },
  translate({ model, ...input }, isOffered) {
    const names = Object.keys(COMBINE_OPERATIONS);
    const wanted = String(model ?? names.find((each) => isOffered("image.edit", each)) ?? names[0]);
    const operation = input.prompt === undefined ? combineImages : (COMBINE_OPERATIONS[wanted] ?? combineGemini25);
    return { operation, input: definedFields(input) };
  },
});

/** Translates make_video to videos.generate, and to generateVideo for an image without a prompt. */
const makeVideoTool = defineRunTool({
  name: "make_video",
  title: "Make a video",
  description: "Create a video from a text or an image. Videos take minutes: expect to continue with get_run.",
  fields: {
    image: fieldOf(generateVideo, "image_url"),
    ...fieldsOf(
      generateVideo,
      ...["prompt", "negative_prompt", "aspect_ratio", "duration", "seed", "model", "output_index", "frame"],
    ),
  },
  translate({ image, output_index, frame, ...input }) {
    const first = image === undefined ? undefined : imageOf(image, { output_index, frame });
    if (input.prompt === undefined && image !== undefined)
      return {
        ...{ operation: generateVideo, input: definedFields({ ...input, image_url: first }) },
        names: { image_url: "image" },
      };
    return { operation: createVideo, input: definedFields({ ...input, image: first }) };
  },
});

/** Translates describe_image to images.describe. */
const describeImageTool = defineRunTool({
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

export const RUN_TOOLS: Tool[] = [
  ...[
    makeImageTool,
    editImageTool,
    cutOutTool,
    eraseTool,
    reframeTool,
    combineImagesTool,
    makeVideoTool,
    describeImageTool,
  ],
];
