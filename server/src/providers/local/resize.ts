// Plans a resize: one image in another size of the same shape.
import { z } from "zod";
import { MIN_IMAGE_SIDE } from "../../files/formats/image-size.ts";
import { type PlanLocalTask, rejectInput } from "./local-task.ts";

const ResizeOptions = z.object({ scale: z.number().gt(0).max(1) });

export const planResize: PlanLocalTask = ({ images: [image], options }) => {
  if (!image) throw rejectInput("images");
  const { scale } = ResizeOptions.parse(options);
  const side = (length: number) => Math.max(MIN_IMAGE_SIDE, Math.round(length * scale));
  return { name: "resize-to-cover", size: { width: side(image.width), height: side(image.height) } };
};
