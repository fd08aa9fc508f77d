// Lists predictions with our keys, which are in their callback URLs.

import { callProvider, providerFault } from "../call-provider.ts";
import { keyOfCallbackUrl } from "../callback-key.ts";
import type { ListedJobPage } from "../provider.ts";
import { type ReplicateContext, replicateApi, replicateUrl } from "./api.ts";
import { PredictionPage } from "./find.ts";

export async function listPredictions(
  { since, next }: { since: Date; next: string | undefined },
  context: ReplicateContext,
): Promise<ListedJobPage> {
  const page = await callProvider(context, {
    ...replicateApi(context.env),
    url: next ?? replicateUrl(context, `/predictions?created_after=${since.toISOString()}`),
    reply: PredictionPage,
  });
  const ours = page.results.filter(({ source }) => source !== "web");
  // The list can omit callback URLs. Then it says nothing about our jobs.
  if (ours.length > 0 && ours.every(({ webhook }) => webhook === undefined))
    throw providerFault("provider_error", { kind: "unknown", cause: "predictions do not contain their callback URL" });
  const jobs = ours.map(({ id, webhook, created_at }) => ({
    ...{ ticket: { id }, key: keyOfCallbackUrl(webhook), created_at: created_at ?? undefined },
  }));
  return { jobs, next: page.next ?? undefined };
}
