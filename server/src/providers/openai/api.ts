// The settings of OpenAI's API, and what all requests to it have in common: URL and credentials. Azure OpenAI has the
// same bodies, with another header for the key, a version in the query, and the deployment of a model in the path.
import { z } from "zod";
import type { Offer } from "../provider.ts";

export const OpenAiEnv = z.object({
  OPENAI_API_KEY: z
    .string()
    .min(1)
    .describe("API key of OpenAI, of a resource of Azure OpenAI, or of a compatible server. Enables the provider"),
  OPENAI_BASE_URL: z
    .url()
    .default("https://api.openai.com/v1")
    .describe("URL of the API, with its version; at Azure `https://<resource>.openai.azure.com/openai`"),
  OPENAI_ORG_ID: z.string().optional().describe("Organization to bill, if the key belongs to several"),
  OPENAI_PROJECT_ID: z.string().optional().describe("Project to bill, if the key belongs to several"),
  OPENAI_AZURE_API_VERSION: z
    .string()
    .regex(/^[\w-]+$/)
    .optional()
    .describe("Version of Azure's API, such as `2025-04-01-preview`. Selects Azure OpenAI"),
  OPENAI_AZURE_DEPLOYMENTS: z
    .string()
    .default("")
    .transform((text) => new Map(text.split(",").flatMap(readDeployment)))
    .describe(
      "Names of your deployments at Azure as `model=deployment`, comma-separated. Default: a deployment has the name of its model",
    ),
});
export type OpenAiEnv = z.output<typeof OpenAiEnv>;

const readDeployment = (text: string): [model: string, deployment: string][] => {
  const [model = "", deployment = ""] = text.split("=").map((part) => part.trim());
  return model && deployment ? [[model, deployment]] : [];
};

export const isAzure = ({ OPENAI_AZURE_API_VERSION }: OpenAiEnv) => OPENAI_AZURE_API_VERSION !== undefined;

type ModelOfOffer = Pick<Offer, "upstreamModel">;

export function openaiApi(env: OpenAiEnv) {
  const origin = env.OPENAI_BASE_URL.replace(/\/+$/, "");
  const modelOf = ({ upstreamModel }: ModelOfOffer) => env.OPENAI_AZURE_DEPLOYMENTS.get(upstreamModel) ?? upstreamModel;
  if (isAzure(env)) {
    const urlOf = (path: string, offer?: ModelOfOffer) => {
      const deployment = offer ? `/deployments/${encodeURIComponent(modelOf(offer))}` : "";
      return `${origin}${deployment}${path}?api-version=${env.OPENAI_AZURE_API_VERSION}`;
    };
    return { origin, headers: { "api-key": env.OPENAI_API_KEY }, urlOf, modelOf };
  }
  const headers: Record<string, string> = {
    authorization: `Bearer ${env.OPENAI_API_KEY}`,
    ...(env.OPENAI_ORG_ID && { "openai-organization": env.OPENAI_ORG_ID }),
    ...(env.OPENAI_PROJECT_ID && { "openai-project": env.OPENAI_PROJECT_ID }),
  };
  return {
    ...{ origin, headers },
    urlOf: (path: string, _offer?: ModelOfOffer) => `${origin}${path}`,
    modelOf: ({ upstreamModel }: ModelOfOffer) => upstreamModel,
  };
}
