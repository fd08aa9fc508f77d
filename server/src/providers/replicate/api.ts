// Common parts of all requests to Replicate: URL, credentials and the schema of a prediction.
import { z } from "zod";
import { callProvider, jobFailed } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";

export const ReplicateEnv = z.object({
  REPLICATE_API_TOKEN: z.string().min(1).describe("API token of Replicate. Enables the provider"),
  REPLICATE_BASE_URL: z.url().default("https://api.replicate.com/v1").describe("URL of the API"),
  REPLICATE_WEBHOOK_SECRET: z
    .string()
    .optional()
    .describe("Signing secret of callbacks (whsec_...). Default: Gesso requests it from Replicate"),
});
export type ReplicateEnv = z.output<typeof ReplicateEnv>;
export type ReplicateContext = ProviderContext<ReplicateEnv>;

/** `webhook` is absent in some responses, which means unknown; null means that there is none. */
export const Prediction = z.object({
  id: z.string(),
  // Replicate adds states from time to time. An unknown state does not count as ended.
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  logs: z.string().nullish(),
  metrics: z
    .object({ predict_time: z.number().min(0).nullish() })
    .nullish()
    .catch(null),
  webhook: z.string().nullish(),
  source: z.string().nullish(),
  created_at: z.string().nullish(),
});
export type Prediction = z.output<typeof Prediction>;

export const replicateApi = ({ REPLICATE_BASE_URL: url, REPLICATE_API_TOKEN: token }: ReplicateEnv) => ({
  origin: url,
  headers: { authorization: `Bearer ${token}` },
});

export const replicateUrl = ({ env }: ReplicateContext, path: string) =>
  `${env.REPLICATE_BASE_URL.replace(/\/+$/, "")}${path}`;

export const readPrediction = (id: string, context: ReplicateContext) =>
  callProvider(context, {
    ...replicateApi(context.env),
    url: replicateUrl(context, `/predictions/${encodeURIComponent(id)}`),
    reply: Prediction,
    classify: (status, body) => (status === 404 ? jobFailed(body) : undefined),
  });

/** The callback URL. Replicate accepts only https; a local fake server accepts http too. */
export function callbackUrlFor({ callbackUrl, env }: ReplicateContext): string | undefined {
  const isAccepted = callbackUrl?.startsWith("https:") || env.REPLICATE_BASE_URL.startsWith("http:");
  return isAccepted ? callbackUrl : undefined;
}

/** Compares the path, which identifies the attempt. The host of PUBLIC_URL may have changed since. */
export const isSamePath = (webhook: string, ours: string | undefined) =>
  ours !== undefined && URL.canParse(webhook) && new URL(webhook).pathname === new URL(ours).pathname;
