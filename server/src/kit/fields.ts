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

export const prompt = (says = "What the picture shows") =>
  text(1, MAX_PROMPT)
    .refine((value) => /[^\s\p{C}\p{Z}]/u.test(value), {
      params: { code: "required" },
      error: "At least one visible character.",
    })
    .describe(says);

export const words = (says: string, most = MAX_PROMPT) => text(0, most).describe(says);

/** Text with something to see in it: an empty name could never be found again. */
export const visible = (says: string, most: number) =>
  words(says, most)
    .refine((value) => /[^\s\p{C}\p{Z}]/u.test(value), {
      params: { code: "required" },
      error: "At least one visible character.",
    })
    .meta({ minLength: 1 });

export const runId = (says: string) => z.uuid().describe(says).meta({ "x-widget": "run" });

export const address = () => text(1, 2048).regex(/^https?:\/\/\S+$/i, { error: "An http or https address." });

/** A moment in ISO 8601. There was no year 0, and the database knows it. */
export const moment = (says: string) =>
  z.iso
    .datetime({ offset: true })
    .refine((value) => !value.startsWith("0000"), {
      params: { code: "out_of_range" },
      error: "A year from 1 on.",
    })
    .describe(says);

export const imageUrl = (says: string) => address().describe(says).meta({ format: "uri", "x-widget": "image" });

/** The name of a LoRA, never a path to one: it becomes part of a file's name where the model runs. */
export const loraName = (says: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, { error: "Letters, digits, dot, dash and underscore." })
    .describe(says);

export const filename = () => words("Name of the file, for your own records", 255).meta(FORM_ONLY).optional();

export const seed = () => z.int().min(0).max(4294967295).optional().describe("The same seed gives the same picture");

export const aspectRatio = (says = "Shape of the picture, such as 16:9") =>
  z
    .string()
    .regex(/^[1-9]\d?:[1-9]\d?$/, { error: "Two whole numbers with a colon, such as 16:9." })
    .describe(says);

export const side = (says: string) => z.int().min(64).max(2048).describe(says);

const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;
const bytesOf = (value: unknown) => utf8Bytes(JSON.stringify(value));
const depthOf = (value: unknown): number =>
  value === null || typeof value !== "object" ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));

/** After `whsec_` comes a key in base64; a secret without the prefix is taken as it stands. */
const isKey = (text: string) => {
  const [, key] = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? [];
  const bytes = key === undefined ? 0 : (key.replaceAll("=", "").length * 6) >> 3;
  return bytes >= 24 && bytes <= 64;
};

export const webhookSecret = (says: string) =>
  z
    .string()
    .refine((value) => utf8Bytes(value) >= 16, { params: { code: "weak_secret" }, error: "At least 16 bytes." })
    .refine((value) => utf8Bytes(value) <= 255, { params: { code: "too_long" }, error: "At most 255 bytes." })
    .refine((value) => !value.startsWith("whsec_") || isKey(value), {
      params: { code: "weak_secret" },
      error: "After whsec_, 24 to 64 bytes in base64.",
    })
    .describe(says)
    .meta({ writeOnly: true, minLength: 16, maxLength: 255 });

const ROUTINGS = ["preferred", "cheapest", "fastest"] as const;
export type Routing = (typeof ROUTINGS)[number];

/** Fields that every run-creating operation takes. */
export const everyRun = {
  sync: z.boolean().default(false).describe("Wait for the end, at most 55 seconds"),
  routing: z
    .enum(ROUTINGS)
    .optional()
    .describe("Who is asked first where several providers offer the same: the preferred, the cheapest or the fastest"),
  max_cost: z
    .number()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe("Refuse the run where it would cost more than this, in US dollars, or nobody knows what it costs"),
  webhook_url: address().optional().describe("Address that is told when the run has ended"),
  webhook_secret: webhookSecret("Signs the webhook; never shown again").optional(),
  metadata: z
    .record(z.string(), z.unknown())
    .refine((value) => Object.keys(value).length <= 64, {
      params: { code: "too_many_items" },
      error: "At most 64 keys.",
    })
    .refine((value) => bytesOf(value) <= 16_384, { params: { code: "too_long" }, error: "At most 16 KiB." })
    .refine((value) => depthOf(value) <= 8, { params: { code: "out_of_range" }, error: "At most 8 levels deep." })
    .optional()
    .describe("Your own notes; they come back with the run")
    .meta({ maxProperties: 64 }),
};

/** The same, for operations whose callers expect the finished result in the answer. */
export const waitedRun = {
  ...everyRun,
  sync: z
    .boolean()
    .default(true)
    .describe("Wait for the result, at most 55 seconds; false answers the open run at once"),
};

/** Where a stream of events goes on. */
export const after = () =>
  words("The id of the last event that you have; `Last-Event-ID` says the same, and goes before it", 64).optional();
