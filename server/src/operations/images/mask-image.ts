import { z } from "zod";
import { executingModel, promptField, syncRunFields } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import { DEFAULT_MODELS } from "../../contract/models.ts";
import { defineRun } from "../../contract/operation.ts";
import { Run } from "../../contract/schemas/run.ts";
import { planWithinMask } from "./mask-blend.ts";

export const maskImage = defineRun({
  name: "edit.maskImage",
  summary: "Inpaint or remove the masked area of an image. Returns a PNG",
  http: { method: "POST", path: "/edits/mask", bodies: ["json", "form"] },
  run_type: "mask-edit",

  input: z.object({
    original_image_url: imageField(
      "Image as a URL, base64 or run ID; in a form also as a file. The run of the image becomes the parent",
    ),
    mask_image_url: imageField("Mask in the shape of the image. White marks the area that changes"),
    prompt: promptField(
      "Text that describes the new content. Without it, Gesso removes the masked content and fills the area",
    ).optional(),
    model: executingModel(),
    ...syncRunFields,
  }),
  output: Run,
  example: {
    original_image_url: "https://example.com/desk.png",
    mask_image_url: "https://example.com/mask.png",
    prompt: "a green plant",
  },

  responseKind: "image",
  parent: (input) => {
    const original = parseSource(input.original_image_url);
    return "run" in original ? original.run : undefined;
  },
  plan: (input) =>
    planWithinMask({
      ...(input.prompt
        ? { task: "image.edit", model: input.model ?? DEFAULT_MODELS["image.edit"], prompt: input.prompt }
        : { task: "image.remove", model: input.model ?? DEFAULT_MODELS["image.remove"] }),
      images: [parseSource(input.original_image_url)],
      mask: parseSource(input.mask_image_url),
    }),
  renderResponse: (run) => run,
});
