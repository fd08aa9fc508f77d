// Sizes in the format of OpenAI. With a mask, the aspect ratio of the image must stay, because the unmasked area is
// restored afterwards.
import { adjustParameters } from "../adjust-parameters.ts";
import type { Offer } from "../provider.ts";

type Size = { width: number; height: number };
type Shape = { width?: number | undefined; height?: number | undefined; aspect_ratio?: string | undefined };

const within = ({ width, height, aspect_ratio }: Shape, offer: Offer) =>
  adjustParameters({ task: offer.task, model: offer.model, width, height, aspect_ratio }, offer).job;

const named = ({ width, height }: Shape) => (width && height ? `${width}x${height}` : undefined);

export const sizeWithin = (requested: Shape, offer: Offer): string | undefined => named(within(requested, offer));

/**
 * Sides are multiples of a step, so the aspect ratio rarely fits exactly: selects the size with the smallest
 * distortion.
 */
export function nearestSizeTo(image: Size, offer: Offer): string | undefined {
  const shape = image.width / image.height;
  const distortion = ({ width = 1, height = 1 }: Shape) => Math.abs(Math.log(width / height / shape));
  const candidates = [image, ...USUAL_LENGTHS.map((length) => scaled(image, length))];
  return named(
    candidates
      .map((size) => within(size, offer))
      .reduce((best, each) => (distortion(each) < distortion(best) ? each : best)),
  );
}

const USUAL_LENGTHS = Array.from({ length: 65 }, (_, step) => 1024 + step * 16);

const scaled = ({ width, height }: Size, longer: number): Size => {
  const scale = longer / Math.max(width, height);
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
};
