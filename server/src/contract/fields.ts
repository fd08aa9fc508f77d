// Input fields that many operations share, with their limits. The descriptions are the API documentation.
import { z } from "zod";
import { FORM_ONLY } from "./files.ts";

const MAX_PROMPT = 8000;

/** Lengths count code points, as in JSON Schema, not UTF-16 units. */
const text = (minLength: number, maxLength: number) =>
  z
    .string()
    .refine((value) => hasAtMostCodePoints(value, maxLength), {
      params: { code: "too_long" },
      error: `Must have at most ${maxLength} characters.`,
      // A text of a megabyte is not searched for visible characters as well.
      abort: true,
    })
    .meta({ minLength, maxLength });

/** A code point has one or two UTF-16 units: a text that is much too long is refused without counting. */
const hasAtMostCodePoints = (value: string, max: number) =>
  value.length <= max || (value.length <= 2 * max && [...value].length <= max);

export const promptField = (description = "Text that describes the image, 1 to 8,000 characters") =>
  text(1, MAX_PROMPT)
    .refine((value) => /[^\s\p{C}\p{Z}]/u.test(value), {
      params: { code: "required" },
      error: "Must have at least one visible character.",
    })
    .describe(description);

export const textField = (description: string, maxLength = MAX_PROMPT) => text(0, maxLength).describe(description);

/** Text with at least one visible character. */
export const nonBlankText = (description: string, maxLength: number) =>
  textField(description, maxLength)
    .refine((value) => /[^\s\p{C}\p{Z}]/u.test(value), {
      params: { code: "required" },
      error: "Must have at least one visible character.",
    })
    .meta({ minLength: 1 });

export const runId = (description: string) => z.uuid().describe(description).meta({ "x-widget": "run" });

export const httpUrl = () => text(1, 2048).regex(/^https?:\/\/\S+$/i, { error: "Must be an http or https URL." });

/** A timestamp in ISO 8601. PostgreSQL has no year 0. */
export const timestampField = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .refine((value) => !value.startsWith("0000"), {
      params: { code: "out_of_range" },
      error: "The year must be 0001 or later.",
    })
    .describe(description);

export const imageUrl = (description: string) =>
  httpUrl().describe(description).meta({ format: "uri", "x-widget": "image" });

const MAX_MODEL_NAME = 200;
/** In forms: a choice of names that this installation has, with their prices. */
const MODEL_WIDGET = { "x-widget": "model" };
const NAMES =
  "A name or ID of a model from catalogue.get, a name that the operator added, or a provider's own name, such as " +
  "fal:fal-ai/flux/dev";
export const anyModelName = () =>
  z
    .string()
    .refine((value) => hasAtMostCodePoints(value, MAX_MODEL_NAME), {
      params: { code: "too_long" },
      error: `Must have at most ${MAX_MODEL_NAME} characters.`,
    })
    .regex(/^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u, {
      error: "Must be the name of a model, without spaces around it and without line breaks.",
    })
    .meta({ minLength: 1, maxLength: MAX_MODEL_NAME, pattern: undefined });

/** The provider's own name of a model: the ID of the provider, and the path that jobs are posted to. */
export const providerModelName = () =>
  z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}:[A-Za-z0-9][A-Za-z0-9._/-]{0,159}$/, {
      error: "Must be the ID of a provider, a colon and the path of the model, such as fal:fal-ai/veo3.1/fast.",
    })
    .describe("The provider's own name, such as fal:fal-ai/veo3.1/fast or replicate:owner/name");

/** A name that the operator gives to a model. Without a colon, so it is never taken for a provider's own name. */
export const modelAlias = () =>
  z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/, {
    error: "Must have 1 to 64 lower-case letters, digits, dots and dashes, and begin with a letter or digit.",
  });

/** One of `known`, or any other name that this installation has an offer for. */
export const knownOrOtherModel = <const Known extends readonly [string, ...string[]]>(known: Known) =>
  z.union([z.enum(known), anyModelName()], {
    error: "Must be the name of a model.",
  });

/** The model that executes an operation. */
export const modelToUse = <const Known extends readonly [string, ...string[]]>(known: Known, description: string) =>
  knownOrOtherModel(known).describe(`${description}. ${NAMES}`).meta(MODEL_WIDGET);

/** The model that executes an operation. Without it, the operator's preference decides. */
export const executingModel = () =>
  anyModelName()
    .describe(`Model that does the work. ${NAMES}. Default: the operator's preference`)
    .meta(MODEL_WIDGET)
    .optional();

/** The name of a LoRA. It becomes part of a file name at the provider, so it cannot be a path. */
export const loraName = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, {
      error: "Must have only letters, digits, dots, dashes and underscores.",
    })
    .describe(description);

export const filename = () =>
  textField("File name, for your own records. At most 255 characters", 255).meta(FORM_ONLY).optional();

export const seed = () =>
  z
    .int()
    .min(0)
    .max(4294967295)
    .optional()
    .describe(
      "Seed for the model's random numbers, 0 to 4294967295. A seed makes results of the same model similar, not identical. Models without a seed ignore it with a warning",
    );

export const aspectRatio = (description = "Aspect ratio, such as 16:9") =>
  z
    .string()
    .regex(/^[1-9]\d?:[1-9]\d?$/, { error: "Must be two numbers with a colon, such as 16:9." })
    .describe(description);

export const sideLength = (description: string) => z.int().min(64).max(2048).describe(description);

const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;
const bytesOf = (value: unknown) => utf8Bytes(JSON.stringify(value));
const depthOf = (value: unknown): number =>
  value === null || typeof value !== "object" ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));

/** After `whsec_`, a secret is a key in base64. A secret without the prefix is used as text. */
const isWebhookSecretKey = (text: string) => {
  const [, key] = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? [];
  const bytes = key === undefined ? 0 : (key.replaceAll("=", "").length * 6) >> 3;
  return bytes >= 24 && bytes <= 64;
};

export const webhookSecret = (description: string) =>
  z
    .string()
    .refine((value) => utf8Bytes(value) >= 16, {
      params: { code: "weak_secret" },
      error: "Must have at least 16 bytes.",
    })
    .refine((value) => utf8Bytes(value) <= 255, { params: { code: "too_long" }, error: "Must have at most 255 bytes." })
    .refine((value) => !value.startsWith("whsec_") || isWebhookSecretKey(value), {
      params: { code: "weak_secret" },
      error: "Must have 24 to 64 bytes in base64 after whsec_.",
    })
    .describe(description)
    .meta({ writeOnly: true, minLength: 16, maxLength: 255 });

/** An ID of the caller's own. Format characters and line ends are invisible, so two that look equal could differ. */
export const endUser = (description: string) =>
  z
    .string()
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u, { error: "Must have 1 to 128 printable characters." })
    .describe(description)
    .meta({ minLength: 1, maxLength: 128 });

export const MAX_COST_TAGS = 20;
export const costTags = (description: string) =>
  z.array(endUser("A tag, 1 to 128 printable characters")).max(MAX_COST_TAGS).describe(description);

const ROUTINGS = ["preferred", "cheapest", "fastest"] as const;
export type Routing = (typeof ROUTINGS)[number];

/** Fields of every operation that creates a run. */
export const runFields = {
  sync: z.boolean().default(false).describe("Wait for the run to end, at most 55 s. Default: false"),
  routing: z
    .enum(ROUTINGS)
    .optional()
    .describe(
      "Which provider Gesso tries first when several offer the model: preferred, cheapest or fastest. Default: preferred",
    ),
  max_cost: z
    .number()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe(
      "Maximum cost of the run in US dollars. Gesso refuses the request if the estimate is higher or the price is unknown",
    ),
  webhook_url: httpUrl().optional().describe("URL that receives a webhook when the run ends. At most 2,048 characters"),
  webhook_secret: webhookSecret("Secret that signs the webhook, 16 to 255 bytes. Never returned").optional(),
  metadata: z
    .record(z.string(), z.unknown())
    .refine((value) => Object.keys(value).length <= 64, {
      params: { code: "too_many_items" },
      error: "Must have at most 64 keys.",
    })
    .refine((value) => bytesOf(value) <= 16_384, {
      params: { code: "too_long" },
      error: "Must have at most 16 KiB as JSON.",
    })
    .refine((value) => depthOf(value) <= 8, { params: { code: "out_of_range" }, error: "Must have at most 8 levels." })
    .optional()
    .describe("Your own key-value data, returned with the run. At most 64 keys, 16 KiB and 8 levels")
    .meta({ maxProperties: 64 }),
  end_user: endUser(
    "Your own ID of the visitor of your app whom the run is for, 1 to 128 printable characters. Access tokens of this " +
      "end user see the run. With an access token: its own end user only. Default: that of the token, or none",
  ).optional(),
  customer: endUser(
    "Your own ID of the customer whom the cost of the run counts for, 1 to 128 printable characters. With an access " +
      "token: that of the token only. Default: that of the token, or none",
  ).optional(),
  tags: costTags(
    `What else the cost of the run counts for, at most ${MAX_COST_TAGS}, such as feature:avatar. With an access token: ` +
      "those of the token only. Default: those of the token, or none",
  ).optional(),
};

/** The same fields, for operations that return the finished result by default. */
export const syncRunFields = {
  ...runFields,
  sync: z
    .boolean()
    .default(true)
    .describe("Wait for the result, at most 55 s. With false, the API returns the open run at once. Default: true"),
};

/** The position after which an event stream continues. */
export const afterEventIdField = () =>
  textField(
    "ID of the last event you received. The `Last-Event-ID` header has the same meaning and takes precedence",
    64,
  ).optional();
