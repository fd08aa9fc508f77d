import { z } from "zod";
import { runFields } from "../../contract/fields.ts";
import { imageField, parseSource } from "../../contract/image-fields.ts";
import { defineRun } from "../../contract/operation.ts";
import { asGeneration, Generation } from "../../contract/schemas/run.ts";

const WHITE = "#ffffff";

export const combineImages = defineRun({
  name: "images.combine",
  summary: "Combine 2 to 10 images in one: side by side, stacked, in a grid or as an overlay",
  http: { method: "POST", path: "/combine", bodies: ["json", "form"] },
  run_type: "combine",

  input: z.object({
    images: z
      .array(imageField("An image as a URL, base64 or run ID; in a form also as a file"))
      .min(2)
      .max(10)
      .describe("Images in order, 2 to 10"),
    mode: z
      .enum(["side-by-side", "stacked", "grid", "overlay"])
      .default("side-by-side")
      .describe("Layout. Default: side-by-side"),
    gap: z.int().min(0).max(512).default(0).describe("Gap between images in pixels, 0 to 512. Default: 0"),
    background: z
      .string()
      .regex(/^(transparent|#[0-9a-fA-F]{6})$/, { error: "Must be transparent or a color such as #ffcc00." })
      .optional()
      .describe("Background: transparent or #rrggbb. Default: transparent, white in a JPEG"),
    opacity: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe("Opacity of the upper images with mode overlay, 0 to 1. Default: 1"),
    output_format: z.enum(["png", "jpeg", "webp"]).default("png").describe("File format. Default: png"),
    ...runFields,
  }),
  output: Generation,
  example: { images: ["https://example.com/lamp.png", "https://example.com/desk.png"], mode: "side-by-side", gap: 8 },

  fillDefaults: (input) => {
    const isOpaque = input.output_format === "jpeg";
    const background = input.background ?? "transparent";
    return { ...input, background: isOpaque && background === "transparent" ? WHITE : background };
  },
  adjustments: (input, provided) => [
    ...(input.output_format === "jpeg" && provided.background === "transparent"
      ? [{ field: "background", message: "background was set to white: a JPEG has no transparency." }]
      : []),
    ...(input.mode !== "overlay" && provided.opacity !== undefined
      ? [{ field: "opacity", message: "opacity is ignored: only mode overlay uses it." }]
      : []),
    ...(input.mode === "overlay" && provided.gap !== undefined
      ? [{ field: "gap", message: "gap is ignored with mode overlay." }]
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
