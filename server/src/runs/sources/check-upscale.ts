// Checks that an enlarged image can be stored, before a provider is paid for it.

import type { Job } from "../../contract/operation.ts";
import { Fault } from "../../faults/faults.ts";
import { type ImageSize, isStorableSize } from "../../files/formats/image-size.ts";

type UpscaleJob<S> = Pick<Job<S>, "task" | "images" | "options">;

/** Passes if a size is not known yet. */
export function checkUpscale<S>(job: UpscaleJob<S>, sizeOf: (source: S) => ImageSize | undefined): void {
  const { task, images, options } = job;
  if (task !== "image.upscale") return;
  const factor = Number(options?.factor);
  for (const source of images ?? []) {
    const size = sizeOf(source);
    if (!size) continue;
    const [width, height] = [size.width * factor, size.height * factor];
    if (!isStorableSize({ width, height })) throw new Fault("image_too_many_pixels", { width, height, factor });
  }
}
