// Performs one pixel task inside the isolated process.
import type { PixelOutput, PixelTask } from "../pixel-tasks.ts";
import { blendImages } from "./blend.ts";
import { drawCombination } from "./combine.ts";
import { cutImage, readFoundMask } from "./cut.ts";
import { alphaMask, invertMask, whiteTransparentMask } from "./mask-formats.ts";
import { resizeToCover } from "./resize.ts";

export async function performPixelTask(
  task: PixelTask,
  images: Uint8Array[],
  masks: Uint8Array[],
): Promise<PixelOutput[]> {
  switch (task.name) {
    case "invert-mask":
      return [{ bytes: await invertMask(images[0]!) }];
    case "alpha-mask":
      return [{ bytes: await alphaMask(images[0]!, task.size) }];
    case "white-transparent-mask":
      return [{ bytes: await whiteTransparentMask(images[0]!) }];
    case "found-mask":
      return [await readFoundMask(images[0]!, task.size)];
    case "resize-to-cover":
      return [{ bytes: await resizeToCover(images[0]!, task.size) }];
    case "combine":
      return drawCombination(images, task);
    case "cut":
      return cutImage(images, masks, task);
    case "blend":
      return blendImages(images, masks, task.size);
  }
}
