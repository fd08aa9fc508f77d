// What is paid for: how many of its unit an offer is asked for, and how many it made. A quantity or a price that is not
// known makes the sum unknown; it is never taken for nothing.
import type { Job } from "../kit/operation.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import type { Offer, PriceBasis } from "../providers/provider.ts";

export const UNIT_LABELS: Record<PriceBasis, string> = {
  image: "per image",
  megapixel: "per megapixel",
  second: "per second of video",
  call: "per call",
};

/** Vendors that count megapixels count at least one for a picture, and make about one where nobody says a size. */
const MIN_BILLED_MEGAPIXELS = 1;
/** Sums of prices are shown without the dust of binary fractions. */
const ROUNDING_FACTOR = 1_000_000;

type BillableResult = { width?: number | undefined; height?: number | undefined; duration?: number | undefined };

/** What the offer would be paid for, when it is asked for the job as it really will be. */
export function calculateRequestedQuantity<S>(offer: Offer, asked: Job<S>): number | null {
  const { job } = adjustParameters(asked, offer);
  const { width, height, count = 1 } = job;
  return countBillableUnits(offer, Array<BillableResult>(count).fill({ width, height, duration: durationOf(job) }));
}

/** What it is paid for in the end. A result without files, such as a description, is one of whatever is counted. */
export function calculateDeliveredQuantity<S>(offer: Offer, asked: Job<S>, files: BillableResult[]): number | null {
  const duration = durationOf(adjustParameters(asked, offer).job);
  const made = files.map((file) => ({ ...file, duration: file.duration ?? duration }));
  return countBillableUnits(offer, made.length > 0 ? made : [{ duration }]);
}

function countBillableUnits({ per = "image", limits }: Offer, results: BillableResult[]): number | null {
  if (per === "image") return results.length;
  if (per === "call") return Math.ceil(results.length / (limits?.count ?? results.length));
  if (per === "megapixel") return results.reduce((sum, result) => sum + megapixelsOf(result), 0);
  return results.reduce<number | null>(
    (sum, { duration }) => (sum === null || duration === undefined ? null : sum + duration),
    0,
  );
}

const megapixelsOf = ({ width, height }: BillableResult) =>
  width && height ? Math.max(MIN_BILLED_MEGAPIXELS, (width * height) / 1e6) : MIN_BILLED_MEGAPIXELS;

const durationOf = <S>({ options }: Job<S>) => (typeof options?.duration === "number" ? options.duration : undefined);

type PricedQuantity = { quantity: number | null; price: number | null };

export function sumCosts(items: PricedQuantity[]): number | null {
  const amount = items.reduce<number | null>(
    (sum, { quantity, price }) => (sum === null || quantity === null || price === null ? null : sum + quantity * price),
    0,
  );
  return amount === null ? null : Math.round(amount * ROUNDING_FACTOR) / ROUNDING_FACTOR;
}
