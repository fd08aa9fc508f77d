import { z } from "zod";
import { promptField, syncRunFields } from "../../kit/fields.ts";
import { imageField, parseSource } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/schemas/run.ts";
import { planWithinMask } from "./mask-blend.ts";

export const maskImage = defineOperation({
  name: "edit.maskImage",
  summary: "Inpaint or remove the masked area of an image; returns a PNG",
  http: { method: "POST", path: "/edits/mask", bodies: ["json", "form"] },
  run_type: "mask-edit",

  input: z.object({
    original_image_url: imageField("The image: address, base64 or run id; in a form also a file"),
    mask_image_url: imageField("Mask of the same size: white is what changes"),
    prompt: promptField("What to put there; without it the marked part is removed and filled").optional(),
    ...syncRunFields,
  }),
  output: Run,
  example: {
    original_image_url: "https://example.com/desk.png",
    mask_image_url: "https://example.com/mask.png",
    prompt: "a green plant",
  },

  responseKind: "image",
  plan: (asked) =>
    planWithinMask({
      ...(asked.prompt
        ? { task: "image.edit", model: "edit-default", prompt: asked.prompt }
        : { task: "image.remove", model: "remove-default" }),
      images: [parseSource(asked.original_image_url)],
      mask: parseSource(asked.mask_image_url),
    }),
  renderResponse: (run) => run,
});
