// Settings of fal and the origins of its APIs.
import { z } from "zod";

const base = (url: string) => z.url().default(url).transform(withoutSlash);
const withoutSlash = (url: string) => url.replace(/\/+$/, "");

export const FalEnv = z.object({
  FAL_KEY: z.string().min(1).describe("API key of fal.ai, as id:secret. Enables the provider"),
  FAL_QUEUE_URL: base("https://queue.fal.run").describe("URL of fal's queue API"),
  FAL_REST_URL: base("https://rest.fal.ai").describe("URL of fal's REST API, for uploads and signing keys"),
  FAL_API_URL: base("https://api.fal.ai").describe("URL of fal's platform API, for the list of models"),
  FAL_SCHEMA_URL: base("https://fal.ai").describe("URL of fal's site, for the schemas of models that are imported"),
  FAL_LORA_BASE_URL: z
    .url()
    .transform(withoutSlash)
    .optional()
    .describe("Base URL of your LoRA files; Gesso appends the name and .safetensors. Required for jobs with a LoRA"),
  FAL_TEXT_MODEL: z
    .string()
    .default("meta-llama/llama-3.3-70b-instruct")
    .describe("Language model that enhances prompts, by its OpenRouter name"),
  FAL_KEEP_REQUESTS: z
    .stringbool()
    .default(true)
    .describe(
      "false asks fal not to keep the input and output of requests. A result is then lost if all workers are down for longer than 6 minutes to 1 hour",
    ),
});
export type FalEnv = z.output<typeof FalEnv>;

/** fal keeps the files of a job for a day: longer than the deadline of every run, so a late worker still finds them. */
const FILE_LIFETIME = JSON.stringify({ expiration_duration_seconds: 24 * 60 * 60 });

/** Asks fal to delete the files of a job and, if the operator wants it, not to keep its input and output. */
export const retentionHeaders = (env: FalEnv): Record<string, string> => ({
  "x-fal-object-lifecycle-preference": FILE_LIFETIME,
  ...(env.FAL_KEEP_REQUESTS ? {} : { "x-fal-store-io": "0" }),
});
/** The same for a file that Gesso uploads. */
export const UPLOAD_RETENTION_HEADERS = { "x-fal-object-lifecycle": FILE_LIFETIME };

export const authorizationHeader = (env: FalEnv) => ({ authorization: `Key ${env.FAL_KEY}` });

/** URLs in fal's responses are on one of these origins or on a subdomain of fal. */
export const baseOrigins = (env: FalEnv) =>
  [env.FAL_QUEUE_URL, env.FAL_REST_URL, env.FAL_API_URL].map((url) => new URL(url).origin);
