// What fal needs from the environment, and where its parts are.
import { z } from "zod";

const base = (url: string) => z.url().default(url).transform(withoutSlash);
const withoutSlash = (url: string) => url.replace(/\/+$/, "");

export const FalEnv = z.object({
  FAL_KEY: z.string().min(1).describe("Key of fal.ai, as id:secret; fal is off where this is not set"),
  FAL_QUEUE_URL: base("https://queue.fal.run").describe("Where fal takes jobs"),
  FAL_REST_URL: base("https://rest.fal.ai").describe("Where fal takes files and shows the keys that it signs with"),
  FAL_API_URL: base("https://api.fal.ai").describe("Where fal tells which models it has"),
  FAL_LORA_BASE_URL: z
    .url()
    .transform(withoutSlash)
    .optional()
    .describe("Where fal finds your LoRAs: the name and .safetensors are added; jobs with a LoRA are not done without"),
  FAL_TEXT_MODEL: z
    .string()
    .default("meta-llama/llama-3.3-70b-instruct")
    .describe("The language model that fal asks to enhance prompts, by its OpenRouter name"),
});
export type FalEnv = z.output<typeof FalEnv>;

export const authorizationHeader = (env: FalEnv) => ({ authorization: `Key ${env.FAL_KEY}` });

/** Every address of an answer is on one of these, or below one of fal's own domains. */
export const baseOrigins = (env: FalEnv) =>
  [env.FAL_QUEUE_URL, env.FAL_REST_URL, env.FAL_API_URL].map((url) => new URL(url).origin);
