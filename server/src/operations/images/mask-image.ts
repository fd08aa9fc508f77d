import { z } from "zod";
import { prompt, waitedRun } from "../../kit/fields.ts";
import { picture, toSource } from "../../kit/images.ts";
import { defineOperation } from "../../kit/operation.ts";
import { Run } from "../../kit/shapes.ts";
import { withinMask } from "./masked.ts";

export const maskImage = defineOperation({
  name: "edit.maskImage",
  summary: "Change what a mask marks in an image, or take it out; answers a PNG",
  http: { method: "POST", path: "/edits/mask", bodies: ["json", "form"] },
  run_type: "mask-edit",

  input: z.object({
    original_image_url: picture("The image: address, base64 or run id; in a form also a file"),
    mask_image_url: picture("Mask of the same size: white is what changes"),
    prompt: prompt("What to put there; without it the marked part is removed and filled").optional(),
    ...waitedRun,
  }),
  output: Run,
  example: {
    original_image_url: "https://example.com/desk.png",
    mask_image_url: "https://example.com/mask.png",
    prompt: "a green plant",
  },

  answers: "image",
  plan: (asked) =>
    withinMask({
      ...(asked.prompt
        ? { task: "image.edit", model: "edit-default", prompt: asked.prompt }
        : { task: "image.remove", model: "remove-default" }),
      images: [toSource(asked.original_image_url)],
      mask: toSource(asked.mask_image_url),
    }),
  reply: (run) => run,
});
