// Checks that a mask has the same size in pixels as the image it applies to.
import { Fault } from "../faults.ts";
import type { Job } from "../kit/operation.ts";

type ImageSize = { width: number; height: number };

/** Passes if one of the two sizes is not known yet. */
export function checkMask<S>(job: Job<S>, sizeOf: (source: S) => ImageSize | undefined): void {
  const maskedImage = job.images?.[job.mask_over ?? 0];
  const [mask, image] = [job.mask && sizeOf(job.mask), maskedImage && sizeOf(maskedImage)];
  if (!mask || !image || (mask.width === image.width && mask.height === image.height)) return;
  const size = ({ width, height }: ImageSize) => ({ width, height });
  throw new Fault("mask_mismatch", { image: size(image), mask: size(mask) });
}
