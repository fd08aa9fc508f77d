// The sandbox that comes with Gesso: a job queue over HTTP with callbacks, like a cloud provider. It is free and
// offline.
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { models } from "../contract/models.ts";
import type { Task } from "../contract/operation.ts";
import { FREE } from "../prices/price.ts";
import { callProvider, modelUnavailable, providerFault } from "./call-provider.ts";
import { convertImage } from "./convert-image.ts";
import { honourAll } from "./parameter-support.ts";
import { type Asset, defineProvider, type Offer, type ProviderContext, type Recovery } from "./provider.ts";
import { publishModel, toModelResult, toSandboxJob } from "./sandbox/sandbox-models.ts";

const SandboxEnv = z.object({
  SANDBOX_URL: z.url().describe("URL of the sandbox. Enables the provider"),
  SANDBOX_KEY: z.string().describe("API key of the sandbox"),
});
type SandboxEnv = z.output<typeof SandboxEnv>;

const Output = z.object({
  url: z.url(),
  media_type: z.string().optional(),
  name: z.string().optional(),
  score: z.number().optional(),
  box: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).optional(),
  duration: z.number().optional(),
  fps: z.number().optional(),
});
const Job = z.object({
  id: z.string(),
  status: z.enum(["queued", "running", "succeeded", "failed", "refused", "canceled"]),
  progress: z.number().default(0),
  outputs: z.array(Output).default([]),
  data: z.record(z.string(), z.unknown()).nullish(),
  error: z.object({ code: z.string() }).nullish(),
});
const Jobs = z.object({ data: z.array(Job) });
const ListedJobs = z.object({
  data: z.array(z.object({ id: z.string(), reference: z.string().nullish(), created_at: z.string() })),
  has_more: z.boolean(),
});
const CanceledJob = Job.extend({ charged: z.boolean() });

/** The sandbox has a model for each kind of recovery, so that all of them can be tested. */
const KINDS: Record<string, Recovery> = { vendora: "none", "qwen-image-edit": "find" };
const upstreamName: Record<Recovery, string> = { replay: "replay", find: "find", none: "blind", free: "replay" };

/** One model of the sandbox uses inverted masks, because providers have different conventions. */
const BLACK = "+black";
const CHANGES_BLACK = ["gemini-2.5"];

/** More results than the sandbox accepts in one request are split into several. */
const MAX_RESULTS = 4;

const offer = (task: Task, model: string): Offer => {
  const recovery = KINDS[model] ?? "replay";
  const kind = CHANGES_BLACK.includes(model) ? BLACK : "";
  const upstreamModel = `${upstreamName[recovery]}/${model}${kind}`;
  const limits = { count: MAX_RESULTS };
  return { task, model, upstreamModel, recovery, price: FREE, limits, parameters: honourAll(task) };
};

/** Tasks besides image generation, with their models. */
const TASKS: Partial<Record<Task, string[]>> = {
  "image.edit": ["flux-kontext-max", "vendora", "nanobanana", "gemini-2.5", "edit-default"],
  "image.character": ["character-default"],
  "image.reference": ["reference-default"],
  "image.segment": ["segment-default"],
  "image.remove-background": ["remove-background-default"],
  "image.remove": ["remove-default"],
  "image.reframe": ["photon-flash-1", "photon-1"],
  "image.describe": ["describe-default"],
  "image.upscale": ["upscale-default"],
  "prompt.enhance": ["enhance-default"],
  "video.generate": ["video-default"],
};

const offers: Offer[] = [
  ...models.filter((model) => model.id !== "vendorc").map((model) => offer("image.generate", model.id)),
  ...Object.entries(TASKS).flatMap(([task, names]) => names.map((name) => offer(task as Task, name))),
];

const api = (env: SandboxEnv) => ({ origin: env.SANDBOX_URL, headers: { authorization: `Bearer ${env.SANDBOX_KEY}` } });
const ended = (status: string) => status !== "queued" && status !== "running";

export const sandbox = defineProvider<SandboxEnv>({
  id: "sandbox",
  preference: 100,
  canAlwaysCallBack: true,
  env: SandboxEnv,
  offers,
  anyModel: {
    isFree: true,
    own: ["replay/studio", "replay/clip"],
    recovery: (path) => (path.startsWith("replay/") ? "replay" : path.startsWith("find/") ? "find" : "none"),
    describe: describeModel,
  },
  resultOrigins: (env) => [new URL(env.SANDBOX_URL).origin],

  async submit(job, offer, context) {
    const { origin, headers } = api(context.env);
    const images = await Promise.all((job.images ?? []).map(inline));
    const { task, prompt, width, height, seed, count, options } = job.model_run
      ? toSandboxJob(job.model_run.input)
      : job;
    const { id } = await callProvider(context, {
      origin,
      headers: { ...headers, "idempotency-key": context.key },
      url: `${origin}/v1/jobs`,
      body: {
        model: offer.upstreamModel,
        ...{ task, prompt, width, height, seed, count, options },
        negative_prompt: job.negative_prompt,
        images: images.length > 0 ? images : undefined,
        mask: job.mask && (await inline(offer.upstreamModel.endsWith(BLACK) ? inverted(job.mask, context) : job.mask)),
        aspect_ratio: job.aspect_ratio,
        reference: context.key,
        callback_url: context.callbackUrl,
      },
      reply: Job,
    });
    return { state: "running", ticket: { id } };
  },

  async poll(ticket, context) {
    const job = await read(`/v1/jobs/${ticket.id}`, context);
    if (!ended(job.status)) return { state: "running", ticket, progress: job.progress };
    if (job.status === "succeeded") {
      const { outputs, data } = job;
      return { state: "done", outputs, raw: toModelResult(outputs), ...(data && { data }) };
    }
    if (job.status === "refused")
      throw providerFault("content_refused", { kind: "refused", cause: job.error }, { by: "provider" });
    throw providerFault("provider_error", { kind: "failed", cause: job.error });
  },

  async findJob(context) {
    const { data } = await callProvider(context, {
      ...api(context.env),
      url: `${context.env.SANDBOX_URL}/v1/jobs?reference=${encodeURIComponent(context.key)}`,
      reply: Jobs,
    });
    return data[0] && { id: data[0].id };
  },

  async listJobs({ since, next }, context) {
    const query = new URLSearchParams({ since: since.toISOString(), ...(next && { after: next }) });
    const url = `${context.env.SANDBOX_URL}/v1/jobs?${query}`;
    const { data, has_more } = await callProvider(context, { ...api(context.env), url, reply: ListedJobs });
    return {
      jobs: data.map(({ id, reference, created_at }) => ({ ticket: { id }, key: reference ?? undefined, created_at })),
      next: has_more ? data.at(-1)?.id : undefined,
    };
  },

  async cancel(ticket, context) {
    const { charged } = await callProvider(context, {
      ...api(context.env),
      method: "POST",
      url: `${context.env.SANDBOX_URL}/v1/jobs/${ticket.id}/cancel`,
      reply: CanceledJob,
    });
    return { isUncharged: !charged };
  },

  async probe(offers, context) {
    const url = `${context.env.SANDBOX_URL}/v1/jobs?reference=doctor`;
    await callProvider(context, { ...api(context.env), url, hasNoSideEffects: true, reply: Jobs });
    return {
      message: "free, offline",
      missing: [],
      unasked: offers.map(({ upstreamModel }) => upstreamModel),
    };
  },

  async parseCallback({ headers, body }, context) {
    if (!isSigned(headers.get("sandbox-signature") ?? "", body, context.env.SANDBOX_KEY)) return undefined;
    const job = Job.parse(JSON.parse(body));
    return { ticket: { id: job.id }, ended: ended(job.status), progress: job.progress };
  },
});

async function describeModel(path: string): Promise<unknown> {
  const published = publishModel(path);
  if (!published) throw modelUnavailable(`the sandbox has no model ${path}`, 404);
  return published;
}

const read = (path: string, context: ProviderContext<SandboxEnv>) =>
  callProvider(context, { ...api(context.env), url: `${context.env.SANDBOX_URL}${path}`, reply: Job });

const inverted = (mask: Asset, context: ProviderContext<SandboxEnv>) => ({
  media_type: "image/png",
  bytes: async () => convertImage(context, { name: "invert-mask" }, await mask.bytes()),
});

const inline = async (asset: { bytes(): Promise<Uint8Array>; media_type: string }) => ({
  base64: Buffer.from(await asset.bytes()).toString("base64"),
  media_type: asset.media_type,
});

function isSigned(header: string, body: string, key: string): boolean {
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (!time || !signature) return false;
  const expected = createHmac("sha256", key).update(`${time}.${body}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, "hex"));
}
