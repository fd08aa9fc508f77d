// Checks that a mask has the shape of the image it applies to. A mask of another size is scaled later; one of another
// shape would mark other parts of the image than its author meant.

import type { Job } from "../../contract/operation.ts";
import { Fault } from "../../faults/faults.ts";
import { hasSameShape, type ImageSize } from "../../files/formats/image-size.ts";

/** The image that the mask of a job applies to. */
export const findMaskedImage = <S>({ images, mask_over = 0 }: Pick<Job<S>, "images" | "mask_over">): S | undefined =>
  images?.[mask_over];

/** Passes if one of the two sizes is not known yet. */
export function checkMask<S>(job: Job<S>, sizeOf: (source: S) => ImageSize | undefined): void {
  const maskedImage = findMaskedImage(job);
  const [mask, image] = [job.mask && sizeOf(job.mask), maskedImage && sizeOf(maskedImage)];
  if (!mask || !image || hasSameShape(mask, image)) return;
  const size = ({ width, height }: ImageSize) => ({ width, height });
  throw new Fault("mask_mismatch", { image: size(image), mask: size(mask) });
}
