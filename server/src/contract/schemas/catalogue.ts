// Response schemas of the catalogue: the offers of this installation. Limits have the names of `gesso.yaml`.
import { z } from "zod";

const OfferLimits = z
  .object({
    ratios: z.array(z.string()).optional().describe("The only aspect ratios, such as 16:9"),
    sizes: z.array(z.string()).optional().describe("The only sizes, such as 1024x1024"),
    sides: z
      .object({
        least: z.int().optional(),
        most: z.int().optional(),
        step: z.int().optional(),
        least_pixels: z.int().optional(),
        most_pixels: z.int().optional(),
        most_ratio: z.number().optional().describe("Longer side divided by the shorter one"),
      })
      .optional()
      .describe("Bounds of width and height in pixels, and of their product"),
    resolutions: z
      .record(z.string(), z.int())
      .optional()
      .describe("Named sizes with their pixels. A width and height select the nearest, beside an aspect ratio"),
    durations: z.array(z.number()).optional().describe("The only durations of a video, in seconds"),
    duration: z.object({ least: z.number(), most: z.number() }).optional().describe("Range of durations, in seconds"),
    count: z.int().optional().describe("Maximum results per request. More results take several requests"),
    images: z.int().optional().describe("Maximum input images"),
    mask: z.boolean().optional().describe("false: requests with a mask are served by another offer"),
    prompt: z.int().optional().describe("Maximum characters of a prompt"),
    source: z
      .object({ most_pixels: z.int().optional(), most_masked_pixels: z.int().optional() })
      .optional()
      .describe("Maximum pixels of a source image, and of the rectangle around the masked area"),
  })
  .meta({ id: "OfferLimits" });

const OfferParameter = z
  .object({
    name: z.string(),
    state: z
      .enum(["honoured", "adapted", "unsupported", "excluded"])
      .describe(
        "honoured: used as it is; adapted: some values become the nearest supported one, with a warning; unsupported: " +
          "ignored with a warning; excluded: requests with the parameter are served by another offer",
      ),
    how: z.string().optional().describe("How the value is used, for people"),
    not_with: z.string().optional().describe("The parameter is ignored together with this one"),
    only_with: z.string().optional().describe("The parameter is ignored without this one"),
  })
  .meta({ id: "OfferParameter" });

const PriceRow = z
  .object({
    of: z.string().describe("Unit that is counted, such as image, second, output_token or compute_second"),
    usd: z.number().describe("US dollars per unit"),
    when: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe("Parameters of the request with the values that the row is for"),
    up_to_pixels: z.int().optional().describe("The row is for results with at most as many pixels"),
  })
  .meta({ id: "PriceRow" });

const PriceTable = z
  .object({
    rows: z
      .array(PriceRow)
      .describe("Prices of units. Of the rows with the same unit, the first that fits the request counts"),
    most: z
      .array(PriceRow)
      .nullable()
      .describe("The most that a request can cost, if only the provider's response tells the amount. It is reserved"),
    as_of: z.iso.date().nullable().describe("Day on which the source stated the price"),
    source: z.string().nullable(),
    confidence: z
      .enum(["official", "third_party", "inferred", "operator"])
      .describe(
        "official: the provider says so; third_party: other sources do; inferred: derived from other prices; operator: " +
          "set in gesso.yaml",
      ),
  })
  .meta({ id: "PriceTable" });

const CatalogueOffer = z
  .object({
    task: z.string().describe("Kind of work, such as image.generate"),
    provider: z.string(),
    upstream: z.string().describe("Name of the model at the provider"),
    name: z.string().describe("What a request can name to get this offer alone, such as fal:fal-ai/flux/dev"),
    model_name: z.string().nullable().describe("What people call the model. null if Gesso has no name for it"),
    model_id: z.string().nullable().describe("The same as an ID that a request can name, such as gpt-image-2.5-flare"),
    preferred: z.boolean().describe("Whether Gesso tries this offer first for its task and model"),
    price: z
      .number()
      .nullable()
      .describe("Price per unit in US dollars of a request without options that change it. null if unknown"),
    per: z.enum(["image", "megapixel", "second", "call"]).describe("Unit of the price"),
    at_most: z
      .boolean()
      .describe(
        "Whether `price` is a bound: several units are counted, or only the provider's response tells the amount",
      ),
    price_table: PriceTable.nullable().describe("The whole price. null if unknown"),
    latency: z.enum(["quick", "usual", "slow"]).describe("quick: a few seconds; usual: up to 30 s; slow: minutes"),
    equivalence: z.string().nullable().describe("Failover group. null: the offer has no failover"),
    limits: OfferLimits,
    parameters: z.array(OfferParameter).describe("What the offer does with each parameter of its task"),
    lifecycle: z.object({
      state: z.enum(["active", "deprecated", "retired"]).describe("retired: Gesso does not use the offer"),
      since: z.iso
        .date()
        .nullable()
        .describe(
          "Day when the state began. A day in the future is when an active offer is deprecated, or a deprecated one retired",
        ),
      successor: z.string().nullable().describe("Name of the next model at the provider"),
    }),
    open_until: z.iso
      .datetime()
      .nullable()
      .describe("Until then Gesso sends no jobs to the offer, because it failed repeatedly. null: the offer is in use"),
  })
  .meta({ id: "CatalogueOffer" });
export type CatalogueOffer = z.infer<typeof CatalogueOffer>;

export const ModelCatalogue = z
  .object({
    models: z
      .array(
        z.object({
          model: z.string(),
          description: z.string().nullable(),
          display_name: z.string().nullable().describe("What people call the model of the preferred offer"),
          vendor: z.string().nullable().describe("Who made it"),
          stands_for: z
            .object({ name: z.string(), ended_on: z.iso.date() })
            .nullable()
            .describe("The model that the name is from, if its vendor ended it and another one does the work"),
          offers: z.array(CatalogueOffer).describe("Offers of this installation, by task, the preferred one first"),
        }),
      )
      .describe("Models with at least one offer"),
    tasks: z
      .array(
        z.object({
          task: z.string(),
          models: z.array(z.string()),
          operations: z.array(z.string()).describe("Operations with this task that the credential may call"),
        }),
      )
      .describe("Tasks with at least one offer"),
  })
  .meta({ id: "ModelCatalogue" });
export type ModelCatalogue = z.infer<typeof ModelCatalogue>;
