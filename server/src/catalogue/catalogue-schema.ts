// What an operator may write in `gesso.yaml`, in the operator's words. Every wrong value has a sentence that says what
// would be right, and a word that is not known is never passed over.
import { z } from "zod";
import type { OfferLimits } from "../providers/provider.ts";

/** The sentence for something that is no mapping at all; words in it that are not known are told one by one. */
const mapping = (says: string) => ({
  error: ({ code }: { code?: string }) => (code === "unrecognized_keys" ? undefined : says),
});
const positiveInteger = (says: string) => z.int(says).min(1, says);
const nonEmptyText = (says: string) => z.string(says).min(1, says);
const listOf = <Item extends z.ZodType>(item: Item, says: string) => z.array(item, says).min(1, says);
/** Null takes away what holds without the file; what is left out stays as it is. */
const nullableOptional = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().optional();

const onOff = (name: string) =>
  z
    .union([z.boolean(), z.enum(["on", "off"])], `${name} is on or off`)
    .transform((value) => value === true || value === "on");

const CONCURRENT = "concurrent is how many jobs may be under way at once: a whole number, or null for no limit";
const PER_MINUTE = "per_minute is how many jobs may be sent in a minute: a whole number, or null for no limit";

export const ProviderSettings = z.strictObject(
  {
    enabled: onOff("enabled").optional(),
    concurrent: nullableOptional(positiveInteger(CONCURRENT)),
    per_minute: nullableOptional(positiveInteger(PER_MINUTE)),
    preference: z.number("preference must be a number; the lowest is tried first").optional(),
  },
  mapping("a provider is on, off, or a mapping of settings"),
);
export type ProviderSettings = z.output<typeof ProviderSettings>;

const RATIOS = 'ratios must be a list of aspect ratios such as ["1:1", "16:9"]';
const SIZES = "sizes is a list of sizes such as [1024x1024, 1536x1024]";
const SIDES = "sides is a mapping of least, most, step, least_pixels, most_pixels and most_ratio, all 1 or more";
const DURATIONS = "durations is a list of seconds such as [5, 10]";
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
    durations: nullableOptional(listOf(z.number(DURATIONS).positive(DURATIONS), DURATIONS)),
    duration: nullableOptional(
      z
        .strictObject({ least: z.number(DURATION).positive(DURATION), most: z.number(DURATION) }, mapping(DURATION))
        .refine(({ least, most }) => least <= most, DURATION),
    ),
    count: nullableOptional(positiveInteger("count is how many results one request can ask for")),
    images: nullableOptional(z.int(IMAGES).min(0, IMAGES)),
    mask: nullableOptional(onOff("mask")),
    prompt: nullableOptional(positiveInteger("prompt is how many characters a prompt may have")),
  } satisfies Record<keyof OfferLimits, z.ZodType>,
  mapping("limits is a mapping; a limit that is null is taken away"),
);
export type LimitChanges = z.output<typeof LimitChanges>;

const LIFECYCLE = "lifecycle is active, deprecated or retired, or a mapping of state, since and successor";
const SINCE = "since is a day such as 2026-12-31";

const LifecycleWord = z.strictObject(
  {
    state: z.enum(["active", "deprecated", "retired"], LIFECYCLE),
    since: z.iso.date(SINCE).optional(),
    successor: nonEmptyText("successor is the upstream name that comes after it").optional(),
  },
  mapping(LIFECYCLE),
);

const PRICE = "price is a number of US dollars, 0 or more, or unknown";

/** A line below a model: which offers of which provider are meant, and what is to be different about them. */
export const CatalogueEntry = z.strictObject(
  {
    provider: nonEmptyText("a line names its provider"),
    task: nonEmptyText("task is what the offer does, such as image.edit").optional(),
    offer: nonEmptyText("offer is the upstream name of one offer, as the reference lists it").optional(),
    like: nonEmptyText("like is a model, or an upstream name, that the provider offers already").optional(),
    enabled: onOff("enabled").optional(),
    as: nonEmptyText("as is the provider's own name for the model").optional(),
    price: z
      .union([z.number().min(0, PRICE), z.literal("unknown"), z.null()], PRICE)
      .transform((value) => (value === "unknown" ? null : value))
      .optional(),
    per: z.enum(["image", "megapixel", "second", "call"], "per is image, megapixel, second or call").optional(),
    price_version: nonEmptyText("price_version is the name of the list that the price is from").optional(),
    limits: LimitChanges.optional(),
    lifecycle: LifecycleWord.optional(),
    equivalence: nullableOptional(
      nonEmptyText("equivalence must be a group name; offers of the same group are used for failover"),
    ),
    on_unknown: z.enum(["fail", "resubmit"], "on_unknown is fail or resubmit").optional(),
  },
  mapping("an entry must be a provider name, or a mapping with provider"),
);
export type CatalogueEntry = z.output<typeof CatalogueEntry>;

/** Where in the file something stands: the way to it, by keys and places in lists. */
export type YamlPath = readonly (string | number)[];
/** `key`: the word before the colon is meant, not what stands behind it. */
export type CatalogueProblem = { path: YamlPath; message: string; at?: "key" };

/** The file as far as it could be read; what could not be is among the problems. */
export type CatalogueFile = {
  providers: { id: string; path: YamlPath; settings: ProviderSettings }[];
  models: { model: string; path: YamlPath; entries: { path: YamlPath; line: CatalogueEntry }[] }[];
};

export const EMPTY_CATALOGUE: CatalogueFile = { providers: [], models: [] };
