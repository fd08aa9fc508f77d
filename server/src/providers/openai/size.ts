// Sizes in the format of OpenAI. With a mask, the aspect ratio of the image must stay, because the unmasked area is
// restored afterwards.
import type { Job } from "../../contract/operation.ts";
import { fitSize } from "../adjust-parameters.ts";
import type { Offer } from "../provider.ts";

type Size = { width: number; height: number };

const named = ({ width, height }: Size) => `${width}x${height}`;

/** The size of a job, which adjust-parameters.ts has fitted to the offer. */
export const sizeOf = ({ width, height }: Pick<Job, "width" | "height">): string | undefined =>
  width && height ? named({ width, height }) : undefined;

/**
 * Sides are multiples of a step, so the aspect ratio rarely fits exactly: selects the size with the smallest
 * distortion.
 */
export function nearestSizeTo(image: Size, offer: Offer): string {
  const shape = image.width / image.height;
  const distortion = ({ width, height }: Size) => Math.abs(Math.log(width / height / shape));
  const candidates = [image, ...USUAL_LENGTHS.map((length) => scaled(image, length))];
  return named(
    candidates
      .map((size) => fitSize(size, offer.limits))
      .reduce((best, each) => (distortion(each) < distortion(best) ? each : best)),
  );
}

const USUAL_LENGTHS = Array.from({ length: 65 }, (_, step) => 1024 + step * 16);

const scaled = ({ width, height }: Size, longer: number): Size => {
  const scale = longer / Math.max(width, height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
};
