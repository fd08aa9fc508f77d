// Fields that many operations share, with the bounds of the contract. The words here are the documentation.
import { z } from "zod";

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

export const runId = (says: string) => z.uuid().describe(says).meta({ "x-widget": "run" });

export const imageUrl = (says: string) =>
  z
    .string()
    .max(2048)
    .regex(/^https?:\/\/\S+$/i, { error: "An http or https address." })
    .describe(says)
    .meta({ format: "uri", "x-widget": "image" });

export const seed = () => z.int().min(0).max(4294967295).optional().describe("The same seed gives the same picture");

export const aspectRatio = (says = "Shape of the picture, such as 16:9") =>
  z
    .string()
    .regex(/^\d{1,2}:\d{1,2}$/, { error: "Two whole numbers with a colon, such as 16:9." })
    .describe(says);

export const side = (says: string) => z.int().min(64).max(2048).describe(says);

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
const depthOf = (value: unknown): number =>
  value === null || typeof value !== "object" ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));

/** Fields that every run-creating operation takes. */
export const everyRun = {
  sync: z.boolean().default(false).describe("Wait for the end, at most 55 seconds"),
  webhook_url: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/\S+$/i, { error: "An http or https address." })
    .optional()
    .describe("Address that is told when the run has ended"),
  webhook_secret: z
    .string()
    .min(16)
    .max(255)
    .optional()
    .describe("Signs the webhook; never shown again")
    .meta({ writeOnly: true }),
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
