// Plans a cut: objects are extracted by masks, one layer or one mask for each.
import { z } from "zod";
import { type PlanLocalTask, rejectInput, requireSameShape } from "./local-task.ts";

const CutOptions = z.object({
  mode: z.enum(["extract", "content", "mask"]).default("extract"),
  invert: z.boolean().default(false),
  preserve_alpha: z.boolean().default(true),
});

export const planCut: PlanLocalTask = ({ images: [image], masks, options }) => {
  if (!image) throw rejectInput("images");
  const { mode, invert, preserve_alpha } = CutOptions.parse(options);
  if (masks.length === 0) throw rejectInput("masks");
  for (const mask of masks) requireSameShape(mask, image);
  return { name: "cut", size: image, isMaskOnly: mode === "mask", isInverted: invert, isAlphaKept: preserve_alpha };
};
