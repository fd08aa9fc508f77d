import { z } from "zod";
import { runFields } from "../../kit/fields.ts";
import { imageField, parseSource } from "../../kit/image-fields.ts";
import { defineOperation } from "../../kit/operation.ts";
import { asGeneration, Generation } from "../../kit/schemas/run.ts";

const WHITE = "#ffffff";

export const combineImages = defineOperation({
  name: "images.combine",
  summary: "Lay two to ten images out in one: side by side, stacked, in a grid or one upon the other",
  http: { method: "POST", path: "/combine", bodies: ["json", "form"] },
  run_type: "combine",

  input: z.object({
    images: z
      .array(imageField("An image: address, base64 or run id; in a form also a file"))
      .min(2)
      .max(10)
      .describe("The images, in their order"),
    mode: z.enum(["side-by-side", "stacked", "grid", "overlay"]).default("side-by-side").describe("How they are laid"),
    gap: z.int().min(0).max(512).default(0).describe("Pixels between neighbours"),
    background: z
      .string()
      .regex(/^(transparent|#[0-9a-fA-F]{6})$/, { error: "transparent, or a colour such as #ffcc00." })
      .optional()
      .describe("Where no image is: transparent (white in a JPEG), or #rrggbb"),
    opacity: z.number().min(0).max(1).default(1).describe("Of the upper images in overlay"),
    output_format: z.enum(["png", "jpeg", "webp"]).default("png").describe("Kind of file"),
    ...runFields,
  }),
  output: Generation,
  example: { images: ["https://example.com/lamp.png", "https://example.com/desk.png"], mode: "side-by-side", gap: 8 },

  fillDefaults: (asked) => {
    const isOpaque = asked.output_format === "jpeg";
    const background = asked.background ?? "transparent";
    return { ...asked, background: isOpaque && background === "transparent" ? WHITE : background };
  },
  adjustments: (asked, given) => [
    ...(asked.output_format === "jpeg" && given.background === "transparent"
      ? [{ field: "background", message: "background is white: a JPEG has no transparency." }]
      : []),
    ...(asked.mode !== "overlay" && given.opacity !== undefined
      ? [{ field: "opacity", message: "opacity is used in overlay only." }]
      : []),
    ...(asked.mode === "overlay" && given.gap !== undefined
      ? [{ field: "gap", message: "gap is not used in overlay." }]
      : []),
  ],
  plan: ({ images, mode, gap, background, opacity, output_format }) => [
    {
      task: "image.combine",
      model: "local",
      images: images.map(parseSource),
      options: { mode, gap, background, opacity, output_format },
    },
  ],
  renderResponse: asGeneration,
});
