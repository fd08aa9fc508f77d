// The schema of `gesso.yaml`. Every invalid value has a message that says what is valid. Unknown settings are errors.
import { z } from "zod";
import { PRICE_UNITS } from "../prices/price.ts";
import type { OfferLimits } from "../providers/provider.ts";
import { RowFieldsSetting } from "./row-schema.ts";

/** The message for a value that is not a mapping. Unknown keys of a mapping are reported one by one instead. */
const mapping = (message: string) => ({
  error: ({ code }: { code?: string }) => (code === "unrecognized_keys" ? undefined : message),
});
const positiveInteger = (message: string) => z.int(message).min(1, message);
const nonEmptyText = (message: string) => z.string(message).min(1, message);
const listOf = <Item extends z.ZodType>(item: Item, message: string) => z.array(item, message).min(1, message);
/** null removes the built-in value; an absent setting keeps it. */
const nullableOptional = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().optional();

const onOff = (name: string) =>
  z
    .union([z.boolean(), z.enum(["on", "off"])], `${name} must be on or off`)
    .transform((value) => value === true || value === "on");

const CONCURRENT = "concurrent must be the maximum number of jobs at a time, 1 or more, or null for no limit";
const PER_MINUTE = "per_minute must be the maximum number of jobs per minute, 1 or more, or null for no limit";

export const ProviderSettings = z.strictObject(
  {
    enabled: onOff("enabled").optional(),
    concurrent: nullableOptional(positiveInteger(CONCURRENT)),
    per_minute: nullableOptional(positiveInteger(PER_MINUTE)),
    preference: z.number("preference must be a number; the lowest is tried first").optional(),
  },
  mapping("a provider must be on, off, or a mapping of settings"),
);
export type ProviderSettings = z.output<typeof ProviderSettings>;

const RATIOS = 'ratios must be a list of aspect ratios such as ["1:1", "16:9"]';
const SIZES = "sizes must be a list of sizes such as [1024x1024, 1536x1024]";
const SIDES = "sides must be a mapping of least, most, step, least_pixels, most_pixels and most_ratio, all 1 or more";
const SOURCE = "source must be a mapping of most_pixels and most_masked_pixels, all 1 or more";
const RESOLUTIONS = "resolutions must be a mapping of names to pixels such as { 1K: 1048576 }, all 1 or more";
const DURATIONS = "durations must be a list of seconds such as [5, 10]";
const DURATION = "duration must be { least, most } in seconds, with least <= most";
const IMAGES = "images must be the number of input images per request, 0 or more";

const LimitChanges = z.strictObject(
  {
    ratios: nullableOptional(listOf(z.string(RATIOS).regex(/^(\d{1,4}:\d{1,4}|[a-z_]+)$/, RATIOS), RATIOS)),
    sizes: nullableOptional(listOf(z.string(SIZES).regex(/^\d{1,5}x\d{1,5}$/, SIZES), SIZES)),
    sides: nullableOptional(
      z.strictObject(
        {
          least: positiveInteger(SIDES).optional(),
          most: positiveInteger(SIDES).optional(),
          step: positiveInteger(SIDES).optional(),
          least_pixels: positiveInteger(SIDES).optional(),
          most_pixels: positiveInteger(SIDES).optional(),
          most_ratio: z.number(SIDES).min(1, SIDES).optional(),
        },
        mapping(SIDES),
      ),
    ),
    resolutions: nullableOptional(z.record(z.string(), positiveInteger(RESOLUTIONS), mapping(RESOLUTIONS))),
    durations: nullableOptional(listOf(z.number(DURATIONS).positive(DURATIONS), DURATIONS)),
    duration: nullableOptional(
      z
        .strictObject({ least: z.number(DURATION).positive(DURATION), most: z.number(DURATION) }, mapping(DURATION))
        .refine(({ least, most }) => least <= most, DURATION),
    ),
    count: nullableOptional(positiveInteger("count must be the number of results per request, 1 or more")),
    images: nullableOptional(z.int(IMAGES).min(0, IMAGES)),
    mask: nullableOptional(onOff("mask")),
    prompt: nullableOptional(positiveInteger("prompt must be the maximum number of characters, 1 or more")),
    source: nullableOptional(
      z.strictObject(
        {
          most_pixels: positiveInteger(SOURCE).optional(),
          most_masked_pixels: positiveInteger(SOURCE).optional(),
        },
        mapping(SOURCE),
      ),
    ),
  } satisfies Record<keyof OfferLimits, z.ZodType>,
  mapping("limits must be a mapping; null removes a limit"),
);
export type LimitChanges = z.output<typeof LimitChanges>;

const LIFECYCLE = "lifecycle must be active, deprecated or retired, or a mapping of state, since and successor";
const SINCE = "since must be a day such as 2026-12-31";

const LifecycleSetting = z.strictObject(
  {
    state: z.enum(["active", "deprecated", "retired"], LIFECYCLE),
    since: z.iso.date(SINCE).optional(),
    successor: nonEmptyText("successor must be the name of the next upstream model").optional(),
  },
  mapping(LIFECYCLE),
);

const PRICE =
  "price must be a number of US dollars, 0 or more, or unknown, or a mapping of rows, most, as_of and source";
const ROWS = "rows must be a list of prices such as [{ of: second, usd: 0.1 }]";
const MOST = "most must be a list of prices such as [{ of: image, usd: 0.2 }]";
const ROW = "a price must be a mapping of of, usd, when and up_to_pixels";

const PriceRows = (message: string) =>
  z.array(
    z.strictObject(
      {
        of: z.enum(PRICE_UNITS, `of must be one of ${PRICE_UNITS.join(", ")}`),
        usd: z.number("usd must be a number of US dollars, 0 or more").min(0),
        when: z
          .record(z.string(), z.union([z.string(), z.number(), z.boolean()]), "when must name parameters and values")
          .optional(),
        up_to_pixels: positiveInteger("up_to_pixels must be a number of pixels, 1 or more").optional(),
      },
      mapping(ROW),
    ),
    message,
  );

const PriceTable = z
  .strictObject({
    rows: PriceRows(ROWS).default([]),
    most: PriceRows(MOST).optional(),
    as_of: z.iso.date("as_of must be a date such as 2026-11-18").optional(),
    source: nonEmptyText("source must say where the price is from").optional(),
  })
  .refine(({ rows, most }) => rows.length > 0 || (most?.length ?? 0) > 0, "price must have rows or most");

const NAMES = (setting: string) => `${setting} must be a list of parameters such as [mask]`;

/** An entry of a model: the provider and offers it refers to, and the settings it changes. */
export const CatalogueEntry = z.strictObject(
  {
    provider: nonEmptyText("an entry must name its provider"),
    task: nonEmptyText("task must be a task such as image.edit").optional(),
    offer: nonEmptyText("offer must be the upstream model of an offer, as in the reference").optional(),
    like: nonEmptyText("like must be a model or upstream model that the provider offers").optional(),
    fields: RowFieldsSetting.optional(),
    constants: z.record(z.string(), z.unknown(), "constants must be a mapping of fields to values").optional(),
    needs: listOf(z.string(), NAMES("needs")).optional(),
    without: listOf(z.string(), NAMES("without")).optional(),
    least_images: z.int("least_images must be a number of images, 1 or more").min(1).optional(),
    enabled: onOff("enabled").optional(),
    as: nonEmptyText("as must be the name of the model at the provider").optional(),
    price: z
      .union([z.number().min(0, PRICE), z.literal("unknown"), z.null(), PriceTable], PRICE)
      .transform((value) => (value === "unknown" ? null : value))
      .optional(),
    per: z.enum(["image", "megapixel", "second", "call"], "per must be image, megapixel, second or call").optional(),
    price_version: nonEmptyText("price_version must be the name of a price list").optional(),
    limits: LimitChanges.optional(),
    lifecycle: LifecycleSetting.optional(),
    equivalence: nullableOptional(
      nonEmptyText("equivalence must be a group name; offers of the same group are used for failover"),
    ),
    on_unknown: z.enum(["fail", "resubmit"], "on_unknown must be fail or resubmit").optional(),
  },
  mapping("an entry must be a provider name, or a mapping with provider"),
);
export type CatalogueEntry = z.output<typeof CatalogueEntry>;

/** A path in the file: keys and list indexes. */
export type YamlPath = readonly (string | number)[];
/** `at: "key"`: the problem is the key, not its value. */
export type CatalogueProblem = { path: YamlPath; message: string; at?: "key" };

/** The valid parts of the file. Invalid parts are reported as problems. */
export type CatalogueFile = {
  providers: { id: string; path: YamlPath; settings: ProviderSettings }[];
  models: { model: string; path: YamlPath; entries: { path: YamlPath; entry: CatalogueEntry }[] }[];
};

export const EMPTY_CATALOGUE: CatalogueFile = { providers: [], models: [] };
