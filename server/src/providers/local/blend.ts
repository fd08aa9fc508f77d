// Plans a blend: edited images are mixed with their original through a mask.
import { type PlanLocalTask, rejectInput, requireSameShape } from "./local-task.ts";

/** The first image is the original. Each further image is blended with it separately and gives one result. */
export const planBlend: PlanLocalTask = ({ images: [original, ...edited], masks: [mask] }) => {
  if (!original || edited.length === 0) throw rejectInput("images");
  if (!mask) throw rejectInput("mask");
  requireSameShape(mask, original);
  return { name: "blend", size: original };
};
