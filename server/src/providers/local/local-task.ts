// The interface of local tasks: from the sizes of the files and the options, a task for the isolated processes. A job
// that no provider could do is refused before anything is decoded.
import { hasSameShape, type ImageSize } from "../../files/formats/image-size.ts";
import type { PixelTask } from "../../files/images/pixel-tasks.ts";
import { providerFault } from "../call-provider.ts";

/** The sizes are those of the files, in their order. */
export type LocalTaskInputs = { images: ImageSize[]; masks: ImageSize[]; options: object };

export type PlanLocalTask = (inputs: LocalTaskInputs) => PixelTask;

/**
 * The job is invalid for any provider. Without this fault, the run would retry it.
 */
export const rejectInput = (reason: string, cause?: unknown) =>
  providerFault("provider_rejected_input", { kind: "refused", cause }, { reason });

/** The reason of a model that refuses a masked area above the limit of its offer. */
export const HOLE_TOO_LARGE = "hole_too_large";

/** The job exceeds a limit of the local offer. Another offer can do it. */
export const exceedsLimit = (reason: string, details: Record<string, number> = {}) =>
  providerFault("provider_rejected_input", { kind: "over_limit" }, { reason, ...details });

/**
 * Checks that a mask has the aspect ratio of its image. The size can differ, because providers return their own sizes.
 */
export function requireSameShape(mask: ImageSize, { width, height }: ImageSize): void {
  if (!hasSameShape(mask, { width, height }))
    throw providerFault("mask_mismatch", { kind: "refused" }, { mask, image: { width, height } });
}
