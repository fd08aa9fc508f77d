// Fields that many operations share, with the bounds of the contract. The words here are the documentation.
import { z } from "zod";
import { FORM_ONLY } from "./files.ts";

const MAX_PROMPT = 8000;

/** Lengths are counted in code points, as JSON Schema counts them, not in UTF-16 units. */
const text = (least: number, most: number) =>
  z
    .string()
    .refine((value) => [...value].length <= most, {
      params: { code: "too_long" },
      error: `At most ${most} characters.`,
    })
    .meta({ minLength: least, maxLength: most });

export const promptField = (description = "Description of the image") =>
  text(1, MAX_PROMPT)
    .refine((value) => /[^\s\p{C}\p{Z}]/u.test(value), {
      params: { code: "required" },
      error: "At least one visible character.",
    })
    .describe(description);

export const textField = (description: string, most = MAX_PROMPT) => text(0, most).describe(description);

/** Text with something to see in it: an empty name could never be found again. */
export const nonBlankText = (description: string, most: number) =>
  textField(description, most)
    .refine((value) => /[^\s\p{C}\p{Z}]/u.test(value), {
      params: { code: "required" },
      error: "At least one visible character.",
    })
    .meta({ minLength: 1 });

export const runId = (description: string) => z.uuid().describe(description).meta({ "x-widget": "run" });

export const httpUrl = () => text(1, 2048).regex(/^https?:\/\/\S+$/i, { error: "Must be an http or https URL." });

/** A moment in ISO 8601. There was no year 0, and the database knows it. */
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

/** The name of a LoRA, never a path to one: it becomes part of a file's name where the model runs. */
export const loraName = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, { error: "Letters, digits, dot, dash and underscore." })
    .describe(description);

export const filename = () => textField("Name of the file, for your own records", 255).meta(FORM_ONLY).optional();

export const seed = () =>
  z
    .int()
    .min(0)
    .max(4294967295)
    .optional()
    .describe("Seed for reproducible results. The same seed and input give the same image where the model supports it");

export const aspectRatio = (description = "Aspect ratio, such as 16:9") =>
  z
    .string()
    .regex(/^[1-9]\d?:[1-9]\d?$/, { error: "Two whole numbers with a colon, such as 16:9." })
    .describe(description);

export const sideLength = (description: string) => z.int().min(64).max(2048).describe(description);

const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;
const bytesOf = (value: unknown) => utf8Bytes(JSON.stringify(value));
const depthOf = (value: unknown): number =>
  value === null || typeof value !== "object" ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));

/** After `whsec_` comes a key in base64; a secret without the prefix is taken as it stands. */
const isWebhookSecretKey = (text: string) => {
  const [, key] = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? [];
  const bytes = key === undefined ? 0 : (key.replaceAll("=", "").length * 6) >> 3;
  return bytes >= 24 && bytes <= 64;
};

export const webhookSecret = (description: string) =>
  z
    .string()
    .refine((value) => utf8Bytes(value) >= 16, { params: { code: "weak_secret" }, error: "At least 16 bytes." })
    .refine((value) => utf8Bytes(value) <= 255, { params: { code: "too_long" }, error: "At most 255 bytes." })
    .refine((value) => !value.startsWith("whsec_") || isWebhookSecretKey(value), {
      params: { code: "weak_secret" },
      error: "After whsec_, 24 to 64 bytes in base64.",
    })
    .describe(description)
    .meta({ writeOnly: true, minLength: 16, maxLength: 255 });

const ROUTINGS = ["preferred", "cheapest", "fastest"] as const;
export type Routing = (typeof ROUTINGS)[number];

/** Fields that every run-creating operation takes. */
export const runFields = {
  sync: z.boolean().default(false).describe("Wait for the run to finish, at most 55 seconds. Default: false"),
  routing: z
    .enum(ROUTINGS)
    .optional()
    .describe(
      "Which provider is tried first when several offer the model: preferred, cheapest or fastest. Default: preferred",
    ),
  max_cost: z
    .number()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe("Maximum cost of the run in US dollars. The request is refused if the price is higher or unknown"),
  webhook_url: httpUrl().optional().describe("URL that receives a webhook when the run ends"),
  webhook_secret: webhookSecret("Secret that signs the webhook. Never returned").optional(),
  metadata: z
    .record(z.string(), z.unknown())
    .refine((value) => Object.keys(value).length <= 64, {
      params: { code: "too_many_items" },
      error: "At most 64 keys.",
    })
    .refine((value) => bytesOf(value) <= 16_384, { params: { code: "too_long" }, error: "At most 16 KiB." })
    .refine((value) => depthOf(value) <= 8, { params: { code: "out_of_range" }, error: "At most 8 levels deep." })
    .optional()
    .describe("Your own key-value data, returned with the run. At most 64 keys and 16 KiB")
    .meta({ maxProperties: 64 }),
};

/** The same, for operations whose callers expect the finished result in the answer. */
export const syncRunFields = {
  ...runFields,
  sync: z
    .boolean()
    .default(true)
    .describe(
      "Wait for the result, at most 55 seconds. With false, the API returns the open run at once. Default: true",
    ),
};

/** Where a stream of events goes on. */
export const afterEventIdField = () =>
  textField(
    "ID of the last event you received. The `Last-Event-ID` header has the same meaning and takes precedence",
    64,
  ).optional();
