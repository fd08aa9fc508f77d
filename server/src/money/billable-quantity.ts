// What a job costs at an offer: the units that its price counts, as the job asks for them, and as they were delivered.
// An unknown number of units or an unknown price makes the amount unknown; it never counts as zero.
import type { Job, SourceSize, Task } from "../contract/operation.ts";
import {
  type PriceFacts,
  type PriceUnit,
  type ReportedUsage,
  sumUnits,
  type UnitPrices,
  unitPrices,
} from "../prices/price.ts";
import { adjustParameters } from "../providers/adjust-parameters.ts";
import type { Offer } from "../providers/provider.ts";

/** Providers that bill by megapixel bill at least one per image. */
const MIN_BILLED_MEGAPIXELS = 1;
const WHOLE_MEGAPIXEL = 1024 * 1024;
/** Providers that bill the source by megapixel bill at least three. */
const MIN_BILLED_INPUT_MEGAPIXELS = 3;
/** Sums are rounded to micro-dollars, to remove floating-point error. */
const ROUNDING_FACTOR = 1_000_000;

type BillableResult = {
  width?: number | null | undefined;
  height?: number | null | undefined;
  duration?: number | undefined;
};

/** The prices that count for a job at an offer, once its parameters have been adjusted to the offer. */
export type JobPrices = {
  rows: UnitPrices;
  most?: UnitPrices | undefined;
  /** Maximum results per call, for prices per call. */
  count?: number | undefined;
};

/** Null if the price of the offer is unknown. */
export function pricesOfJob<S>({ price, ...offer }: Offer, requested: Job<S>): JobPrices | null {
  if (!price) return null;
  const facts = factsOf(adjustParameters(requested, { price, ...offer }).job);
  const { count } = offer.limits ?? {};
  return {
    rows: unitPrices(price.rows, facts),
    ...(price.most && { most: unitPrices(price.most, facts) }),
    ...(count !== undefined && { count }),
  };
}

function factsOf<S>({ model, options, width, height, count, images, source_size, task, ...job }: Job<S>): PriceFacts {
  const size = expectedSize({ task, options, width, height, source_size });
  return {
    ...options,
    ...{ model, images: images?.length ?? 0, aspect_ratio: job.aspect_ratio },
    ...(width && height && { size: `${width}x${height}` }),
    ...(size && { pixels: size.width * size.height }),
  };
}

export type QuoteLine = { unit: PriceUnit; quantity: number | null; usd: number };
export type Quote = {
  /** US dollars. Null: unknown. */
  amount: number | null;
  lines: QuoteLine[];
  /** Whether less may be charged. */
  isBound: boolean;
};

/** What is reserved for a job: the bound of its price, or the price if it has none. */
export function quoteJob<S>(offer: Offer, requested: Job<S>, prices = pricesOfJob(offer, requested)): Quote {
  if (!prices) return { amount: null, lines: [], isBound: false };
  const { rows, most, count } = prices;
  const reserved = most ?? rows;
  const units = countRequested(offer, requested, count);
  const amount = sumUnits(reserved, units);
  const lines = Object.entries(reserved).map(([unit, usd]): QuoteLine => {
    const quantity = units(unit as PriceUnit);
    return { unit: unit as PriceUnit, quantity, usd };
  });
  return { amount: amount === null ? null : roundDollars(amount), lines, isBound: most !== undefined };
}

/** What a job cost: what was delivered and measured or, if the provider did not say what the price needs, the bound. */
export function costOfDelivery<S>(
  offer: Offer,
  requested: Job<S>,
  { files, usage = {} }: { files: BillableResult[]; usage?: ReportedUsage | undefined },
  prices = pricesOfJob(offer, requested),
): number | null {
  if (!prices) return null;
  const { rows, most, count } = prices;
  const { job } = adjustParameters(requested, offer);
  const duration = durationOf(job);
  // Of a file whose size Gesso cannot read, the requested one counts.
  const delivered = files.map((file) => ({
    ...(file.width && file.height ? file : expectedSize(job)),
    duration: file.duration ?? duration,
  }));
  // A result without files, such as a description, counts as one.
  const results = delivered.length > 0 ? delivered : [{ duration }];
  const units = countUnits(job, results, { count, usage });
  const amount = sumUnits(rows, units) ?? sumUnits(most, units);
  return amount === null ? null : roundDollars(amount);
}

function countRequested<S>(offer: Offer, requested: Job<S>, callCount: number | undefined) {
  const { job } = adjustParameters(requested, offer);
  const { count = 1, request_count = 1 } = job;
  const result = { ...expectedSize(job), duration: durationOf(job) };
  const results = Array<BillableResult>(count * request_count).fill(result);
  return countUnits(job, results, { count: callCount, usage: {}, isExpected: true });
}

/** `isExpected`: the results are those that the job asks for. */
type Delivery = { count: number | undefined; usage: ReportedUsage; isExpected?: boolean };

const countUnits =
  <S>(job: Job<S>, results: BillableResult[], { count, usage, isExpected }: Delivery) =>
  (unit: PriceUnit): number | null => {
    const { source_size: source } = job;
    switch (unit) {
      case "image":
        return results.length;
      case "call":
        return Math.ceil(results.length / (count ?? results.length));
      case "second":
        return sumKnown(results, ({ duration }) => duration);
      case "input_image":
        return results.length * (job.images?.length ?? 0);
      case "prompt_character":
        return results.length * [...(job.prompt ?? ""), ...(job.negative_prompt ?? "")].length;
      case "megapixel":
      case "whole_megapixel":
      case "first_megapixel":
      case "further_megapixel":
        // Without a size and a source, providers make an image of about a megapixel. With a source, its size decides.
        return sumKnown(results, (result) =>
          isExpected && !result.width && job.images?.length ? undefined : megapixelsOf(unit, result),
        );
      case "input_megapixel":
        return source ? results.length * Math.max(MIN_BILLED_INPUT_MEGAPIXELS, wholeMegapixels(source)) : null;
      default:
        return usage[unit] ?? null;
    }
  };

function sumKnown(results: BillableResult[], read: (result: BillableResult) => number | undefined): number | null {
  let sum = 0;
  for (const result of results) {
    const value = read(result);
    if (value === undefined) return null;
    sum += value;
  }
  return sum;
}

function megapixelsOf(unit: PriceUnit, { width, height }: BillableResult): number {
  const size = width && height ? { width, height } : { width: 1000, height: 1000 };
  if (unit === "megapixel") return Math.max(MIN_BILLED_MEGAPIXELS, (size.width * size.height) / 1e6);
  const whole = wholeMegapixels(size);
  return unit === "whole_megapixel" ? whole : unit === "first_megapixel" ? 1 : whole - 1;
}

const wholeMegapixels = ({ width, height }: SourceSize) => Math.max(1, Math.ceil((width * height) / WHOLE_MEGAPIXEL));

/** Tasks whose result does not have the size of its source. */
const RESIZING_TASKS: Task[] = ["image.character", "image.reference", "image.reframe", "image.combine"];

type SizedJob = Pick<Job, "task" | "width" | "height" | "source_size" | "options">;

/** The size of a result, as far as it follows from the requested size or from the size of the source. */
export function expectedSize({ task, width, height, source_size, options }: SizedJob): SourceSize | undefined {
  const size = width && height ? { width, height } : RESIZING_TASKS.includes(task) ? undefined : source_size;
  const factor = Number(options?.factor ?? options?.upscale_factor ?? options?.scale ?? 1);
  return size && { width: size.width * factor, height: size.height * factor };
}

const durationOf = <S>({ options }: Job<S>) => (typeof options?.duration === "number" ? options.duration : undefined);

/** Null if one of the amounts is unknown. */
export function sumAmounts(amounts: (number | null)[]): number | null {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === null) return null;
    sum += amount;
  }
  return roundDollars(sum);
}

const roundDollars = (dollars: number) => Math.round(dollars * ROUNDING_FACTOR) / ROUNDING_FACTOR;
