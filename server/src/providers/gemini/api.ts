// The settings of the Gemini API, and what all requests to it have in common: URL, credentials and errors. Vertex AI
// has the same bodies below the path of a project, and takes the token of a service account instead of a key.
import { z } from "zod";
import type { ProviderContext } from "../provider.ts";
import { classifyGeminiError } from "./error-classification.ts";
import { fetchAccessToken, readServiceAccount } from "./service-account.ts";

const GEMINI_URL = "https://generativelanguage.googleapis.com";

export const GeminiEnv = z.object({
  GEMINI_API_KEY: z
    .string()
    .min(1)
    .refine(
      (key) => !key.trimStart().startsWith("{") || readServiceAccount(key) !== undefined,
      "must be an API key, or the whole JSON key of a service account",
    )
    .describe(
      "API key of the Gemini API, or the JSON key of a service account, which selects Vertex AI. Enables the provider",
    ),
  GEMINI_BASE_URL: z
    .url()
    .default(GEMINI_URL)
    .describe("URL of the Gemini API, without its version. Default at Vertex AI: the one of the location"),
  GEMINI_VERTEX_LOCATION: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .default("global")
    .describe("Location of Vertex AI, such as `europe-west4`; without a service account it has no effect"),
  GEMINI_IMAGES: z
    .enum(["generate-content", "interactions"])
    .default("generate-content")
    .describe(
      "How images are requested. `interactions`: in the background, so that a crash or a lost response loses no paid image; Google stores requests and results for a time. Vertex AI has no interactions",
    ),
});
export type GeminiEnv = z.output<typeof GeminiEnv>;

export const geminiApi = (env: GeminiEnv) => {
  const origin = withoutSlash(env.GEMINI_BASE_URL);
  return { origin, headers: { "x-goog-api-key": env.GEMINI_API_KEY }, classify: classifyGeminiError };
};

const withoutSlash = (url: string) => url.replace(/\/+$/, "");

export const isVertex = ({ GEMINI_API_KEY }: GeminiEnv) => readServiceAccount(GEMINI_API_KEY) !== undefined;

/** Origin of the API of models, the path that its models are below, and the path that lists them. */
export async function openModels(context: ProviderContext<GeminiEnv>) {
  const { env } = context;
  const account = readServiceAccount(env.GEMINI_API_KEY);
  if (!account) return { ...geminiApi(env), models: "/v1beta/models", list: "/v1beta/models?pageSize=1000" };
  const location = env.GEMINI_VERTEX_LOCATION;
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  const token = await fetchAccessToken(account, context);
  return {
    origin: env.GEMINI_BASE_URL === GEMINI_URL ? `https://${host}` : withoutSlash(env.GEMINI_BASE_URL),
    headers: { authorization: `Bearer ${token}` },
    classify: classifyGeminiError,
    models: `/v1/projects/${account.project_id}/locations/${location}/publishers/google/models`,
    list: "/v1beta1/publishers/google/models?pageSize=1000",
  };
}
