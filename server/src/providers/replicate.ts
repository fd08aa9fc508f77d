// Replicate: creates a prediction from a model and its input, and polls it. A lost prediction is found by its callback
// URL.
import { z } from "zod";
import {
  callProvider,
  contentRefused,
  inputRejected,
  jobFailed,
  modelUnavailable,
  providerBusy,
  providerFault,
  readProviderFailure,
} from "./call-provider.ts";
import { placeFiles } from "./model-offer.ts";
import { defineProvider, type ProviderOutput } from "./provider.ts";
import {
  callbackUrlFor,
  isSamePath,
  Prediction,
  type ReplicateContext,
  ReplicateEnv,
  readPrediction,
  replicateApi,
  replicateUrl,
} from "./replicate/api.ts";
import { findPrediction } from "./replicate/find.ts";
import { embedImages } from "./replicate/image-transfer.ts";
import { listPredictions } from "./replicate/list.ts";
import { REPLICATE_NOTATION, replicateOffers } from "./replicate/offers.ts";
import { isSigned } from "./replicate/signature.ts";

const Model = z.object({ latest_version: z.object({ id: z.string() }).nullish() });
const Secret = z.object({ key: z.string() });
const Account = z.object({ username: z.string() });

/** Replicate has one free-text field for all errors of a model. */
const MODERATION_ERROR =
  /nsfw|\bE005\b|flagged|moderat|content (?:policy|filter)|safety (?:system|filter|checker)|prohibited/i;
const INPUT_ERROR = /^input validation error|invalid (?:image|input)|failed to (?:download|load)/i;

const END_STATUSES = ["succeeded", "failed", "canceled", "aborted"];
const hasEnded = ({ status }: Prediction) => END_STATUSES.includes(status);

export const replicate = defineProvider<ReplicateEnv>({
  id: "replicate",
  profile: {
    name: "Replicate",
    unlocks: "a second source for most models",
    keyPage: "https://replicate.com/account/api-tokens",
  },
  env: ReplicateEnv,
  offers: replicateOffers,
  anyModel: { recovery: () => "find", describe: describeModel },
  rowNotation: REPLICATE_NOTATION,
  rateLimit: { perMinute: 600 },
  resultOrigins: (env) => [
    "https://replicate.delivery",
    "https://*.replicate.delivery",
    new URL(env.REPLICATE_BASE_URL).origin,
  ],

  async submit(job, offer, context) {
    const body = job.model_run ? placeFiles(job, (file) => file) : (offer.body?.(job) ?? {});
    const input = await embedImages(body, context);
    const [name = "", version = job.model_run?.version ?? undefined] = offer.upstreamModel.split(":");
    const webhook = callbackUrlFor(context);
    const { id } = await callProvider(context, {
      ...replicateApi(context.env),
      url: replicateUrl(context, version ? "/predictions" : `/models/${name}/predictions`),
      body: {
        ...(version && { version: version === "latest" ? await latestVersion(name, context) : version }),
        input,
        ...(webhook && { webhook, webhook_events_filter: ["completed"] }),
      },
      reply: Prediction,
      classify: classifyReplicateError,
    });
    return { state: "running", ticket: { id } };
  },

  async poll(ticket, context) {
    const prediction = await readPrediction(ticket.id!, context);
    if (!hasEnded(prediction)) return { state: "running", ticket, ...progressOf(prediction) };
    if (prediction.status === "succeeded") {
      const seconds = prediction.metrics?.predict_time;
      const usage = typeof seconds === "number" ? { compute_second: seconds } : undefined;
      return { state: "done", outputs: outputsOf(prediction.output), raw: prediction.output, usage };
    }
    throw classifyEndedPrediction(prediction);
  },

  findJob: findPrediction,
  listJobs: listPredictions,

  async cancel(ticket, context) {
    const url = replicateUrl(context, `/predictions/${encodeURIComponent(ticket.id!)}/cancel`);
    const request = { ...replicateApi(context.env), method: "POST", url, reply: Prediction } as const;
    const { status } = await callProvider(context, request);
    // Replicate charges for a prediction that it had started, and not for an aborted one.
    return { isUncharged: status === "aborted" };
  },

  async parseCallback(request, context) {
    if (!isSigned(request, await webhookSecret(context), context.now())) return undefined;
    const prediction = Prediction.parse(JSON.parse(request.body));
    // A callback for another attempt says nothing about this one.
    if (prediction.webhook && !isSamePath(prediction.webhook, context.callbackUrl)) return undefined;
    return { ticket: { id: prediction.id }, ended: hasEnded(prediction), ...progressOf(prediction) };
  },

  async probe(offers, context) {
    const { username } = await callProvider(context, {
      ...replicateApi(context.env),
      url: replicateUrl(context, "/account"),
      reply: Account,
    });
    const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
    const isKnown = await Promise.all(names.map((name) => hasModel(name, context)));
    return { message: `The token is that of ${username}.`, missing: names.filter((_, index) => !isKnown[index]) };
  },
});

/** Errors that the general classification does not cover. */
function classifyReplicateError(status: number, body: string) {
  // The version was removed, or it is private.
  if (status === 422 && /invalid version|not permitted/i.test(body)) return modelUnavailable(body, status);
  if (status !== 429) return undefined;
  const seconds = Number(/"retry_after":\s*(\d+)/.exec(body)?.[1] ?? /resets in ~(\d+)s/.exec(body)?.[1]);
  return seconds ? providerBusy(body, seconds) : undefined;
}

function classifyEndedPrediction({ status, error }: Prediction) {
  // The prediction expired before it started. Nothing was produced or charged.
  if (status === "aborted") return providerFault("provider_error", { kind: "gone", cause: status });
  const message = typeof error === "string" ? error : JSON.stringify(error ?? status);
  if (MODERATION_ERROR.test(message)) return contentRefused(message);
  return INPUT_ERROR.test(message) ? inputRejected(message) : jobFailed(message);
}

/** Most models print a progress bar in their logs. */
function progressOf({ logs }: Prediction): { progress?: number } {
  const percent = [...(logs ?? "").matchAll(/(\d{1,3})%\|/g)].at(-1)?.[1];
  return percent ? { progress: Math.min(1, Number(percent) / 100) } : {};
}

const outputsOf = (output: unknown): ProviderOutput[] =>
  [output].flat().flatMap((each) => (typeof each === "string" && /^https?:\/\//.test(each) ? [{ url: each }] : []));

function describeModel(path: string, context: ReplicateContext): Promise<unknown> {
  const url = replicateUrl(context, `/models/${path}`);
  return callProvider(context, {
    ...replicateApi(context.env),
    ...{ url, reply: z.unknown(), hasNoSideEffects: true },
  });
}

/** Community models have no endpoint of their own; they are run by version. */
async function latestVersion(name: string, context: ReplicateContext): Promise<string> {
  const url = replicateUrl(context, `/models/${name}`);
  const { latest_version } = await callProvider(context, {
    ...replicateApi(context.env),
    url,
    reply: Model,
    hasNoSideEffects: true,
  });
  if (!latest_version) throw modelUnavailable(`${name} has no version`);
  return latest_version.id;
}

async function hasModel(upstreamModel: string, context: ReplicateContext): Promise<boolean> {
  const [name = "", version] = upstreamModel.split(":");
  const path = version && version !== "latest" ? `/models/${name}/versions/${version}` : `/models/${name}`;
  try {
    await callProvider(context, { ...replicateApi(context.env), url: replicateUrl(context, path), reply: z.unknown() });
    return true;
  } catch (thrown) {
    if (readProviderFailure(thrown).status === 404) return false;
    throw thrown;
  }
}

/** Requested once per account, because it does not change by itself. */
const secrets = new WeakMap<ReplicateEnv, Promise<string>>();

function webhookSecret(context: ReplicateContext): Promise<string> {
  const { env } = context;
  if (env.REPLICATE_WEBHOOK_SECRET) return Promise.resolve(env.REPLICATE_WEBHOOK_SECRET);
  const known = secrets.get(env);
  if (known) return known;
  const url = replicateUrl(context, "/webhooks/default/secret");
  const secret = callProvider(context, { ...replicateApi(env), url, reply: Secret, hasNoSideEffects: true }).then(
    ({ key }) => key,
  );
  secrets.set(env, secret);
  secret.catch(() => secrets.delete(env));
  return secret;
}
