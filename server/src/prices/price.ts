// What a provider charges, as a value: prices of units, and the most that a job can cost where only the provider's
// response tells how many units it had. The bound is reserved when a run is accepted; what was measured is charged.

/** Known before the job is sent, if the sizes of its images are. */
const COUNTED_UNITS = [
  ...["image", "call", "second", "input_image", "prompt_character"],
  // A million pixels of a result, at least one; and started ones of 1024 × 1024 pixels.
  ...["megapixel", "whole_megapixel"],
  // For models with another price for the first whole megapixel of a result, and with one for those of the source.
  ...["first_megapixel", "further_megapixel", "input_megapixel"],
] as const;

/** Known only from the response. `dollar`: the provider says what it charges. */
export const MEASURED_UNITS = [
  ...["input_token", "cached_input_token", "input_text_token", "input_image_token"],
  ...["output_token", "output_text_token", "output_image_token", "compute_second", "dollar"],
] as const;
export type MeasuredUnit = (typeof MEASURED_UNITS)[number];

export const PRICE_UNITS = [...COUNTED_UNITS, ...MEASURED_UNITS] as const;
export type PriceUnit = (typeof PRICE_UNITS)[number];

export const UNIT_LABELS: Record<PriceUnit, string> = {
  image: "per image",
  megapixel: "per megapixel",
  whole_megapixel: "per started megapixel",
  first_megapixel: "for the first megapixel",
  further_megapixel: "per further megapixel",
  input_megapixel: "per megapixel of the source",
  second: "per second of video",
  call: "per call",
  input_image: "per source image",
  prompt_character: "per character of the prompt",
  input_token: "per input token",
  cached_input_token: "per cached input token",
  input_text_token: "per input token of text",
  input_image_token: "per input token of an image",
  output_token: "per output token",
  output_text_token: "per output token of text",
  output_image_token: "per output token of an image",
  compute_second: "per second of computing",
  dollar: "as the provider reports",
};

/** What the provider reports about a job. Reported units are never negative. */
export type ReportedUsage = Partial<Record<MeasuredUnit, number>>;

/** What a job asks for, by the names of its parameters. `pixels`: of one result; `size`: such as `1024x1024`. */
export type PriceFacts = Readonly<Record<string, unknown>> & { pixels?: number | undefined };

/**
 * The price of a unit. Of the rows with the same unit, the first that fits the job counts: all values of `when` are
 * those of the job, and its result has at most `up_to_pixels`.
 */
export type PriceRow = {
  of: PriceUnit;
  usd: number;
  when?: Readonly<Record<string, string | number | boolean>> | undefined;
  up_to_pixels?: number | undefined;
};

/** The source: the provider, others who copied it, other prices that it is derived from, or the operator. */
export type PriceConfidence = "official" | "third_party" | "inferred" | "operator";

export type Price = {
  /** Empty: nothing but a bound is known. */
  rows: readonly PriceRow[];
  /** The bound. Without it, the rows are the price and its bound. */
  most?: readonly PriceRow[] | undefined;
  /** The day on which the source said so. */
  as_of?: string | undefined;
  source?: string | undefined;
  confidence: PriceConfidence;
  /** The name of the price list. Default: its day. */
  version?: string | undefined;
};

/** The rows that count for one job, as they are stored with a run. */
export type UnitPrices = Partial<Record<PriceUnit, number>>;

/** Null: not known. */
export type CountUnits = (unit: PriceUnit) => number | null;

export const flatPrice = (usd: number, of: PriceUnit = "image"): Price => ({
  rows: [{ of, usd }],
  confidence: "operator",
});
export const FREE: Price = { rows: [{ of: "image", usd: 0 }], confidence: "official" };

export function unitPrices(rows: readonly PriceRow[], facts: PriceFacts): UnitPrices {
  const prices: UnitPrices = {};
  for (const row of rows) if (prices[row.of] === undefined && fits(row, facts)) prices[row.of] = row.usd;
  return prices;
}

const fits = ({ when = {}, up_to_pixels }: PriceRow, facts: PriceFacts): boolean =>
  Object.entries(when).every(([name, value]) => facts[name] === value) &&
  (up_to_pixels === undefined || (facts.pixels !== undefined && facts.pixels <= up_to_pixels));

/** In US dollars. Null if there are no prices, or if the number of any unit is unknown: it never counts as zero. */
export function sumUnits(prices: UnitPrices | undefined, count: CountUnits): number | null {
  const units = Object.entries(prices ?? {}) as [PriceUnit, number][];
  if (units.length === 0) return null;
  let sum = 0;
  for (const [unit, usd] of units) {
    const quantity = usd === 0 ? 0 : count(unit);
    if (quantity === null) return null;
    sum += usd * quantity;
  }
  return sum;
}

/** Whether the amount of a job is known only from its response. */
const isMeasured = (prices: UnitPrices): boolean => MEASURED_UNITS.some((unit) => prices[unit] !== undefined);

/** The units of a price in short. */
export type ResultUnit = "image" | "megapixel" | "second" | "call";
export type PriceInShort = { usd: number; per: ResultUnit; atMost: boolean };

/**
 * The price of a job that asks for nothing special, in one unit of its results. It is the bound if the price has
 * several units, or depends on the response.
 */
export function priceInShort({ rows, most = [] }: Price): PriceInShort {
  const usual = Object.entries(unitPrices(rows, {})) as [PriceUnit, number][];
  const [bound] = Object.entries(unitPrices(most, {})) as [PriceUnit, number][];
  const isExact = usual.length === 1 && !isMeasured(Object.fromEntries(usual));
  const [unit, usd] = (isExact ? usual[0] : (bound ?? usual[0]))!;
  return { usd, per: toResultUnit(unit), atMost: !isExact };
}

function toResultUnit(unit: PriceUnit): ResultUnit {
  if (unit.endsWith("megapixel")) return "megapixel";
  return unit === "second" || unit === "image" ? unit : "call";
}
