// fal: many models behind one queue API. A job is posted to the URL of its model and gets an ID from fal. Status and
// result are under the first two segments of the model name. Callbacks are signed with published keys.
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import { readImageSize } from "../files/formats/image-size.ts";
import { callProvider, jobFailed, readProviderFailure } from "./call-provider.ts";
import { deferredImage, resolveDeferred } from "./fal/deferred-values.ts";
import { createDeferredContext } from "./fal/image-transfer.ts";
import { FAL_NOTATION, falOffers } from "./fal/offers.ts";
import { classifyInputError, classifyResultStatus, FalResult, toJobDone } from "./fal/result.ts";
import { authorizationHeader, baseOrigins, FalEnv, retentionHeaders } from "./fal/settings.ts";
import { signedRequestId } from "./fal/signature.ts";
import { placeFiles } from "./model-offer.ts";
import {
  type Asset,
  defineProvider,
  type Offer,
  type ProviderContext,
  type Ticket,
  type UpstreamPrice,
} from "./provider.ts";

/** The result of any model: its files are found by its schema. */
const ModelResult = z.record(z.string(), z.unknown());
const CancelReply = z.object({ status: z.string().optional() });
/** The response to a submission, and the body of a callback. */
const SubmitReply = z.object({ request_id: z.string().regex(/^[\w-]+$/) });
const QueueStatus = z.object({
  status: z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]),
  queue_position: z.number().nullish(),
  error: z.unknown().optional(),
  error_type: z.string().nullish(),
});
/** What a ticket has besides the ID. The callback URL has the same values as query parameters. */
const JobFacts = z.object({
  upstreamModel: z.string().regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)+$/),
  task: z.enum([...falOffers.map(({ task }) => task), "model.run"]),
  width: z.string().regex(/^\d+$/).optional(),
  height: z.string().regex(/^\d+$/).optional(),
});
const Prices = z.object({
  prices: z.array(
    z.object({ endpoint_id: z.string(), unit_price: z.number(), unit: z.string(), currency: z.string() }),
  ),
});
const Models = z.object({ models: z.array(z.object({ endpoint_id: z.string() })) });

/** Maximum models per request to the list of models. */
const MAX_MODELS_PER_REQUEST = 50;
/** fal reports no progress, only the queue position. */
const QUEUED = 0.1;
const RUNNING = 0.2;
/** Model names of these namespaces have an additional first segment. */
const NAMESPACES = ["workflows", "comfy"];

export const fal = defineProvider<FalEnv>({
  id: "fal",
  profile: {
    name: "fal",
    unlocks: "almost every operation, including videos",
    keyPage: "https://fal.ai/dashboard/keys",
  },
  env: FalEnv,
  offers: falOffers,
  anyModel: { recovery: () => "none", describe: describeModel },
  rowNotation: FAL_NOTATION,
  resultOrigins: (env) => ["https://fal.media", "https://*.fal.media", ...new Set(baseOrigins(env))],

  async submit(job, offer, context) {
    const { env, callbackUrl } = context;
    const facts = await factsOf(job, offer);
    const deferred = job.model_run ? placeFiles(job, deferredImage) : (offer.body?.(job) ?? {});
    const body = await resolveDeferred(deferred, createDeferredContext(context, countImages(job)));
    const { request_id } = await callProvider(context, {
      origin: env.FAL_QUEUE_URL,
      url: `${env.FAL_QUEUE_URL}/${offer.upstreamModel}${callbackUrl ? `?${buildWebhookQuery(callbackUrl, facts)}` : ""}`,
      // Disables retries at fal: the run decides about retries, and a retry at fal could be charged twice.
      headers: { ...authorizationHeader(env), ...retentionHeaders(env), "x-fal-no-retry": "1" },
      body,
      reply: SubmitReply,
      classify: (status, body) => (status === 400 || status === 422 ? classifyInputError(body) : undefined),
    });
    return { state: "running", ticket: { id: request_id, ...facts } };
  },

  async poll(ticket, context) {
    const standing = await read({ path: "/status", reply: QueueStatus }, ticket, context);
    if (standing.status === "IN_QUEUE") {
      return { state: "running", ticket, progress: QUEUED / (1 + (standing.queue_position ?? 0)) };
    }
    if (standing.status === "IN_PROGRESS") return { state: "running", ticket, progress: RUNNING };
    const reply = ticket.task === "model.run" ? ModelResult : FalResult;
    const bill = watchBill(context);
    const result = await read<z.output<typeof reply>>({ path: "", reply, isJobResult: true }, ticket, bill.context);
    if (standing.error || standing.error_type) throw jobFailed(standing);
    if (ticket.task === "model.run") return { state: "done", outputs: [], raw: result };
    return { ...(await toJobDone(result, ticket)), usage: bill.usageOf(ticket) };
  },

  async cancel(ticket, context) {
    const { FAL_QUEUE_URL: origin } = context.env;
    const url = `${jobUrl(ticket, context.env)}/cancel`;
    const request = {
      method: "PUT",
      origin,
      url,
      headers: authorizationHeader(context.env),
      reply: CancelReply,
    } as const;
    const { status } = await callProvider(context, request).catch((thrown) => {
      // The job has ended or never existed, so there is nothing to cancel.
      const failure = readProviderFailure(thrown);
      if (failure.status !== 400 && failure.status !== 404) throw thrown;
      return { status: undefined };
    });
    // `OK`: the job was removed from the queue. A running job is only asked to stop.
    return { isUncharged: status === "OK" };
  },

  async parseCallback({ headers, body, query }, context) {
    const signed = await signedRequestId({ headers, body }, context);
    const { request_id } = SubmitReply.parse(JSON.parse(body));
    const facts = JobFacts.safeParse(Object.fromEntries(query ?? []));
    if (signed !== request_id || !facts.success) return undefined;
    return { ticket: ticketOf(request_id, facts.data), ended: true };
  },

  async probe(offers, context) {
    const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
    const missing: string[] = [];
    for (let at = 0; at < names.length; at += MAX_MODELS_PER_REQUEST) {
      missing.push(...(await findUnknownModels(names.slice(at, at + MAX_MODELS_PER_REQUEST), context)));
    }
    return {
      message: `fal has ${names.length - missing.length} of ${names.length} models.`,
      missing,
    };
  },

  async readPrices(offers, context) {
    const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
    const prices: UpstreamPrice[] = [];
    for (let at = 0; at < names.length; at += MAX_MODELS_PER_REQUEST)
      prices.push(...(await readPrices(names.slice(at, at + MAX_MODELS_PER_REQUEST), context)));
    return prices;
  },
});

/** The account's own prices, discounts included. */
async function readPrices(names: string[], context: ProviderContext<FalEnv>): Promise<UpstreamPrice[]> {
  const { env } = context;
  const query = new URLSearchParams({ endpoint_id: names.join(",") });
  const { prices } = await callProvider(context, {
    origin: env.FAL_API_URL,
    url: `${env.FAL_API_URL}/v1/models/pricing?${query}`,
    headers: authorizationHeader(env),
    hasNoSideEffects: true,
    reply: Prices,
  });
  return prices
    .filter(({ currency }) => currency === "USD")
    .map(({ endpoint_id, unit_price, unit }) => ({ upstreamModel: endpoint_id, usd: unit_price, unit }));
}

/** fal bills the tokens of these models, and a unit of theirs is a dollar. Units of other models are not dollars. */
const BILLED_IN_DOLLARS = /^openai\/gpt-image-/;

/** The header of a result that says how many units are billed. */
function watchBill(context: ProviderContext<FalEnv>) {
  let units: number | undefined;
  const send: ProviderContext<FalEnv>["send"] = async (url, request) => {
    const response = await context.send(url, request);
    const billed = Number.parseFloat(response.header("x-fal-billable-units") ?? "");
    units = billed > 0 ? billed : undefined;
    return response;
  };
  return {
    context: { ...context, send },
    usageOf: ({ upstreamModel = "" }: Ticket) =>
      units !== undefined && BILLED_IN_DOLLARS.test(upstreamModel) ? { dollar: units } : undefined,
  };
}

const countImages = ({ images = [], mask }: Job<Asset>) => images.length + (mask ? 1 : 0);

/** The size of the image is needed where the result has positions, or describes the image. */
async function factsOf(job: Job<Asset>, offer: Offer): Promise<Record<string, string>> {
  const facts = { upstreamModel: offer.upstreamModel, task: job.task };
  const image = job.images?.[0];
  if (!image || (job.task !== "image.segment" && job.task !== "image.describe")) return facts;
  const { width, height } = readImageSize(await image.bytes());
  return { ...facts, width: String(width), height: String(height) };
}

/** The callback URL carries model and task, because the callback body does not name the model. */
function buildWebhookQuery(callbackUrl: string, facts: Record<string, string>): string {
  const url = new URL(callbackUrl);
  for (const [name, value] of Object.entries(facts)) url.searchParams.set(name, value);
  return new URLSearchParams({ fal_webhook: url.href }).toString();
}

const ticketOf = (id: string, { upstreamModel, task, width, height }: z.output<typeof JobFacts>): Ticket => ({
  id,
  upstreamModel,
  task,
  ...(width && height && { width, height }),
});

/** Built from the ticket, because a callback has no status URL. */
function jobUrl({ id, upstreamModel = "" }: Ticket, env: FalEnv): string {
  const segments = upstreamModel.split("/");
  const app = segments.slice(0, NAMESPACES.includes(segments[0]!) ? 3 : 2).join("/");
  return `${env.FAL_QUEUE_URL}/${app}/requests/${id}`;
}

/** `isJobResult`: an error response is the result of the job, not of the request. */
type FalRead<Reply> = { path: string; reply: z.ZodType<Reply>; isJobResult?: boolean };

const read = <Reply>({ path, reply, isJobResult }: FalRead<Reply>, ticket: Ticket, context: ProviderContext<FalEnv>) =>
  callProvider(context, {
    origin: context.env.FAL_QUEUE_URL,
    url: `${jobUrl(ticket, context.env)}${path}`,
    headers: authorizationHeader(context.env),
    reply,
    classify: (status, body) => {
      if (status === 404) return jobFailed("fal no longer knows the job");
      return isJobResult ? classifyResultStatus(status, body) : undefined;
    },
  });

/** The OpenAPI document of an endpoint. fal publishes it without a key. */
function describeModel(path: string, context: ProviderContext<FalEnv>): Promise<unknown> {
  const { FAL_SCHEMA_URL: origin } = context.env;
  const url = `${origin}/api/openapi/queue/openapi.json?endpoint_id=${encodeURIComponent(path)}`;
  return callProvider(context, { origin, url, hasNoSideEffects: true, reply: z.unknown() });
}

/** The models that fal does not have. If fal only reports that one is missing, the list is bisected. */
async function findUnknownModels(names: string[], context: ProviderContext<FalEnv>): Promise<string[]> {
  const { env } = context;
  const query = names.map((name) => `endpoint_id=${encodeURIComponent(name)}`).join("&");
  try {
    const { models } = await callProvider(context, {
      origin: env.FAL_API_URL,
      url: `${env.FAL_API_URL}/v1/models?${query}`,
      headers: authorizationHeader(env),
      hasNoSideEffects: true,
      reply: Models,
    });
    return names.filter((name) => !models.some(({ endpoint_id }) => endpoint_id === name));
  } catch (thrown) {
    if (readProviderFailure(thrown).status !== 404) throw thrown;
    if (names.length === 1) return names;
    const half = Math.ceil(names.length / 2);
    return [
      ...(await findUnknownModels(names.slice(0, half), context)),
      ...(await findUnknownModels(names.slice(half), context)),
    ];
  }
}
