// Plans a combination of several images into one: side by side, stacked, in a grid, or as an overlay.
import { z } from "zod";
import { MIN_IMAGE_SIDE } from "../../files/formats/image-size.ts";
import { computeLayout } from "../../files/images/combine-layout.ts";
import { type PlanLocalTask, rejectInput } from "./local-task.ts";

const CombineOptions = z.object({
  mode: z.enum(["side-by-side", "stacked", "grid", "overlay"]).default("side-by-side"),
  gap: z.number().int().min(0).max(512).default(0),
  background: z
    .string()
    .regex(/^(transparent|#[0-9a-fA-F]{6})$/)
    .optional(),
  opacity: z.number().min(0).max(1).default(1),
  output_format: z.enum(["png", "jpeg", "webp"]).default("png"),
});

export const planCombine: PlanLocalTask = ({ images, options }) => {
  if (images.length < 2 || images.length > 10) throw rejectInput("images");
  const { mode, gap, background, opacity, output_format } = CombineOptions.parse(options);
  const layout = computeLayout(mode, images, gap);
  if (Math.min(layout.width, layout.height) < MIN_IMAGE_SIDE) throw rejectInput("too_thin");
  return { name: "combine", layout, isOverlay: mode === "overlay", opacity, background, output_format };
};
