// The settings of the Gemini API, and what all requests to it have in common: URL, credentials and errors.
import { z } from "zod";
import { classifyGeminiError } from "./error-classification.ts";

export const GeminiEnv = z.object({
  GEMINI_API_KEY: z.string().min(1).describe("API key of the Gemini API. Enables the provider"),
  GEMINI_BASE_URL: z
    .url()
    .default("https://generativelanguage.googleapis.com")
    .describe("URL of the Gemini API, without its version"),
  GEMINI_IMAGES: z
    .enum(["generate-content", "interactions"])
    .default("generate-content")
    .describe(
      "How images are requested. `interactions`: in the background, so that a crash or a lost response loses no paid image; Google stores requests and results for a time",
    ),
});
export type GeminiEnv = z.output<typeof GeminiEnv>;

export const geminiApi = (env: GeminiEnv) => {
  const origin = env.GEMINI_BASE_URL.replace(/\/+$/, "");
  return { origin, headers: { "x-goog-api-key": env.GEMINI_API_KEY }, classify: classifyGeminiError };
};
