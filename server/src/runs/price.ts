// What is paid for: how many of its unit an offer is asked for, and how many it made. A quantity or a price that is not
// known makes the sum unknown; it is never taken for nothing.
import type { Job } from "../kit/operation.ts";
import { fit } from "../providers/fit.ts";
import type { Offer, PriceBasis } from "../providers/provider.ts";

export const UNITS: Record<PriceBasis, string> = {
  image: "per image",
  megapixel: "per megapixel",
  second: "per second of video",
  call: "per call",
};

/** Vendors that count megapixels count at least one for a picture, and make about one where nobody says a size. */
const LEAST_MEGAPIXELS = 1;
/** Sums of prices are shown without the dust of binary fractions. */
const MILLIONTHS = 1_000_000;

type Measured = { width?: number | undefined; height?: number | undefined; duration?: number | undefined };

/** What the offer would be paid for, when it is asked for the job as it really will be. */
export function quantityAsked<S>(offer: Offer, asked: Job<S>): number | null {
  const { job } = fit(asked, offer);
  const { width, height, count = 1 } = job;
  return quantityOf(offer, Array<Measured>(count).fill({ width, height, duration: durationOf(job) }));
}

/** What it is paid for in the end. A result without files, such as a description, is one of whatever is counted. */
export function quantityMade<S>(offer: Offer, asked: Job<S>, files: Measured[]): number | null {
  const duration = durationOf(fit(asked, offer).job);
  const made = files.map((file) => ({ ...file, duration: file.duration ?? duration }));
  return quantityOf(offer, made.length > 0 ? made : [{ duration }]);
}

function quantityOf({ per = "image", limits }: Offer, results: Measured[]): number | null {
  if (per === "image") return results.length;
  if (per === "call") return Math.ceil(results.length / (limits?.count ?? results.length));
  if (per === "megapixel") return results.reduce((sum, result) => sum + megapixelsOf(result), 0);
  return results.reduce<number | null>(
    (sum, { duration }) => (sum === null || duration === undefined ? null : sum + duration),
    0,
  );
}

const megapixelsOf = ({ width, height }: Measured) =>
  width && height ? Math.max(LEAST_MEGAPIXELS, (width * height) / 1e6) : LEAST_MEGAPIXELS;

const durationOf = <S>({ options }: Job<S>) => (typeof options?.duration === "number" ? options.duration : undefined);

type Priced = { quantity: number | null; price: number | null };

export function sumOf(items: Priced[]): number | null {
  const amount = items.reduce<number | null>(
    (sum, { quantity, price }) => (sum === null || quantity === null || price === null ? null : sum + quantity * price),
    0,
  );
  return amount === null ? null : Math.round(amount * MILLIONTHS) / MILLIONTHS;
}
