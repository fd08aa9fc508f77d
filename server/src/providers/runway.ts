// Runway: starts a task and polls it every few seconds. Runway has no callbacks and no task list, so the outcome of a
// lost submission stays unknown.
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { callProvider, contentRefused, inputRejected, jobFailed, modelUnavailable } from "./call-provider.ts";
import { type Asset, defineProvider, type Offer } from "./provider.ts";
import { type RunwayContext, RunwayEnv, runwayApi, runwayUrl } from "./runway/api.ts";
import { uploadOrInlineImage } from "./runway/image-transfer.ts";
import { endpointPath, runwayOffers } from "./runway/offers.ts";

const SubmitReply = z.object({ id: z.string() });
const Task = z.object({
  id: z.string(),
  // Runway adds states from time to time. An unknown state does not count as ended.
  status: z.string(),
  progress: z.number().nullish(),
  output: z.array(z.url()).nullish(),
  cost: z
    .object({ credits: z.number().min(0) })
    .nullish()
    .catch(null),
  failure: z.string().nullish(),
  failureCode: z.string().nullish(),
});
type Task = z.output<typeof Task>;
const CREDIT_USD = 0.01;
const Organization = z.object({
  creditBalance: z.number(),
  tier: z.object({ models: z.record(z.string(), z.unknown()) }),
});

export const runway = defineProvider<RunwayEnv>({
  id: "runway",
  profile: {
    name: "Runway",
    unlocks: "tagged references, videos",
    keyPage: "https://dev.runwayml.com",
  },
  env: RunwayEnv,
  offers: runwayOffers,
  pollSeconds: 5,
  // Every customer of CloudFront has a host below cloudfront.net, so only exact hosts are allowed.
  resultOrigins: (env) => [
    ...env.RUNWAY_RESULT_HOSTS.map((host) => `https://${host}`),
    new URL(env.RUNWAY_BASE_URL).origin,
  ],

  async submit(job, offer, context) {
    const body = await buildRequestBody(job, offer, context);
    const { id } = await callProvider(context, {
      ...runwayApi(context.env),
      url: runwayUrl(context, endpointPath(offer)),
      body,
      reply: SubmitReply,
      classify: classifyRunwayError,
    });
    return { state: "running", ticket: { id } };
  },

  async poll(ticket, context) {
    const task = await callProvider(context, {
      ...runwayApi(context.env),
      url: taskUrl(ticket.id!, context),
      reply: Task,
      classify: (status, body) => (status === 404 ? jobFailed(body) : undefined),
    });
    if (task.status === "SUCCEEDED") {
      const usage = task.cost ? { dollar: task.cost.credits * CREDIT_USD } : undefined;
      return { state: "done", outputs: (task.output ?? []).map((url) => ({ url })), usage };
    }
    if (task.status === "FAILED" || task.status === "CANCELLED") throw classifyFailedTask(task);
    // THROTTLED means queued; it is not an error.
    return { state: "running", ticket, ...(task.progress != null && { progress: task.progress }) };
  },

  /** For an ended task, this would delete the result. The run calls it only for open jobs. */
  async cancel(ticket, context) {
    const url = taskUrl(ticket.id!, context);
    await callProvider(context, { ...runwayApi(context.env), method: "DELETE", url, reply: z.unknown() });
    return { isUncharged: false };
  },

  async probe(offers, context) {
    const url = runwayUrl(context, "/v1/organization");
    const { creditBalance, tier } = await callProvider(context, {
      ...runwayApi(context.env),
      url,
      reply: Organization,
    });
    const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
    return { message: `${creditBalance} credits are left.`, missing: names.filter((name) => !(name in tier.models)) };
  },
});

const taskUrl = (id: string, context: RunwayContext) => runwayUrl(context, `/v1/tasks/${encodeURIComponent(id)}`);

/** The body of the offer, with images as URLs or data URLs that Runway can read. */
async function buildRequestBody(job: Job<Asset>, offer: Offer, context: RunwayContext): Promise<JsonObject> {
  const uris = await Promise.all((job.images ?? []).map((image) => uploadOrInlineImage(image, context)));
  const fields = {
    model: offer.upstreamModel,
    promptText: job.prompt || undefined,
    seed: job.seed,
    ...offer.body?.(job),
  };
  if (job.task === "video.generate") return { ...fields, promptImage: uris[0] };
  const tags = (job.options?.tags ?? []) as string[];
  const references = uris.map((uri, index) => ({ uri, ...(tags[index] && { tag: tags[index] }) }));
  return { ...fields, ...(references.length > 0 && { referenceImages: references }) };
}

/** Runway uses 400 and 429 also for missing credit and daily limits, where neither the caller nor waiting can help. */
function classifyRunwayError(status: number, body: string) {
  const isOutOfCredits = /"error":\s*"[^"]*(?:credits|daily)/i.test(body);
  const isUnknownModel = /"path":\s*\[\s*"model"\s*\]/.test(body);
  return (status === 400 || status === 429) && (isOutOfCredits || isUnknownModel)
    ? modelUnavailable(body, status)
    : undefined;
}

function classifyFailedTask({ status, failure, failureCode }: Task) {
  const cause = `${failureCode ?? status} ${failure ?? ""}`;
  if (/(^|\.)SAFETY(\.|$)/.test(failureCode ?? "")) return contentRefused(cause);
  return failureCode?.startsWith("ASSET.INVALID") ? inputRejected(cause) : jobFailed(cause);
}
