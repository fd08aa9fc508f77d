// Billable quantities: how many units of its price basis an offer is asked for, and how many it delivered. An unknown
// quantity or price makes the sum unknown; it never counts as zero.
import type { Job, SourceSize, Task } from "../kit/operation.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import type { Offer, PriceBasis } from "../providers/provider.ts";

export const UNIT_LABELS: Record<PriceBasis, string> = {
  image: "per image",
  megapixel: "per megapixel",
  second: "per second of video",
  call: "per call",
};

/** Providers that bill by megapixel bill at least one per image. */
const MIN_BILLED_MEGAPIXELS = 1;
/** Sums are rounded to micro-dollars, to remove floating-point error. */
const ROUNDING_FACTOR = 1_000_000;

type BillableResult = { width?: number | undefined; height?: number | undefined; duration?: number | undefined };

/** Quantity of a request, after its parameters have been adjusted to the offer. Null if it is known only afterwards. */
export function calculateRequestedQuantity<S>(offer: Offer, requested: Job<S>): number | null {
  const { job } = adjustParameters(requested, offer);
  const { count = 1, request_count = 1 } = job;
  const size = expectedSize(job);
  // Without a size and a source, providers make an image of about a megapixel. With a source, its size decides.
  if (offer.per === "megapixel" && !size && job.images?.length) return null;
  return countBillableUnits(
    offer,
    Array<BillableResult>(count * request_count).fill({ ...size, duration: durationOf(job) }),
  );
}

/** Tasks whose result does not have the size of its source. */
const RESIZING_TASKS: Task[] = ["image.character", "image.reference", "image.reframe", "image.combine"];

/** The size of a result, as far as it follows from the requested size or from the size of the source. */
export function expectedSize<S>({ task, width, height, source_size, options }: Job<S>): SourceSize | undefined {
  const size = width && height ? { width, height } : RESIZING_TASKS.includes(task) ? undefined : source_size;
  const factor = Number(options?.factor ?? options?.upscale_factor ?? options?.scale ?? 1);
  return size && { width: size.width * factor, height: size.height * factor };
}

/** Quantity of what was delivered. A result without files, such as a description, counts as one unit. */
export function calculateDeliveredQuantity<S>(offer: Offer, requested: Job<S>, files: BillableResult[]): number | null {
  const duration = durationOf(adjustParameters(requested, offer).job);
  const delivered = files.map((file) => ({ ...file, duration: file.duration ?? duration }));
  return countBillableUnits(offer, delivered.length > 0 ? delivered : [{ duration }]);
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
