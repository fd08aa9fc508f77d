// Replicate's API as far as all calls share it: where it is, who we are to it, and what a prediction looks like.
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

/** `webhook` is left out of some answers, which says nothing; null says that there is none. */
export const Prediction = z.object({
  id: z.string(),
  // Words are added now and then; one that we do not know is no end.
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  logs: z.string().nullish(),
  webhook: z.string().nullish(),
  source: z.string().nullish(),
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

/** The address to call back. It takes none but https, unless it is itself somewhere in the neighbourhood. */
export function callbackUrlFor({ callbackUrl, env }: ReplicateContext): string | undefined {
  const isTaken = callbackUrl?.startsWith("https:") || env.REPLICATE_BASE_URL.startsWith("http:");
  return isTaken ? callbackUrl : undefined;
}

/** Our own host may have got another name since the address was given away; the path is what names an attempt. */
export const isSamePath = (webhook: string, ours: string | undefined) =>
  ours !== undefined && URL.canParse(webhook) && new URL(webhook).pathname === new URL(ours).pathname;
