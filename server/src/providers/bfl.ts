// Black Forest Labs (FLUX): POST /v1/{model} returns a polling URL on another of its hosts. For a job with a webhook it
// returns only the ID. Each host knows only its own jobs, so the webhook may be the only report of such a job's result.
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { FLUX_KONTEXT_ASPECT_RATIOS } from "../contract/models.ts";
import type { Job } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { LORA_PAIR_PARAMETERS, SAMPLING_PARAMETERS, WEIGHT_PARAMETERS } from "../contract/task-parameters.ts";
import { callProvider, contentRefused, jobFailed, providerFault } from "./call-provider.ts";
import { asAspectRatio, asSize, declareParameters, within } from "./parameter-support.ts";
import { type Asset, defineProvider, type ProviderContext, type Ticket } from "./provider.ts";
import { withPublishedPrices } from "./with-published-prices.ts";

const GLOBAL = "https://api.bfl.ai";

const BflEnv = z.object({
  BFL_API_KEY: z.string().min(1).describe("API key of Black Forest Labs. Enables the provider"),
  BFL_BASE_URL: z
    .url()
    .default(GLOBAL)
    .describe("URL of the API. https://api.eu.bfl.ai and https://api.us.bfl.ai process jobs in one region"),
});
type BflEnv = z.output<typeof BflEnv>;

const SubmitReply = z.object({ id: z.string(), polling_url: z.string().nullish() });
const JobStatus = z.object({
  status: z.string(),
  result: z.object({ sample: z.url().nullish() }).nullish(),
  progress: z.number().nullish(),
  details: z.unknown().optional(),
});
/** A callback with an unreadable result still says that the job has ended. */
const CallbackBody = JobStatus.extend({ id: z.string(), result: JobStatus.shape.result.catch(null) });
const Credits = z.object({ credits: z.number() });
const Routes = z.object({ paths: z.record(z.string(), z.unknown()) });

const KONTEXT_GENERATE = declareParameters("image.generate", {
  honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
  adapts: { width: asAspectRatio, height: asAspectRatio },
  ignores: [...SAMPLING_PARAMETERS, ...WEIGHT_PARAMETERS, "negative_prompt", "upscale_factor"],
});
const KONTEXT_EDIT = declareParameters("image.edit", {
  honours: ["prompt", "images", "aspect_ratio", "seed", "count"],
  excludes: ["mask"],
});
const KONTEXT = {
  upstreamModel: "flux-kontext-max",
  recovery: "none",
  latency: "usual",
  limits: { ratios: FLUX_KONTEXT_ASPECT_RATIOS, count: 1, images: 4, mask: false },
} as const;
const MASKED = { recovery: "none", preference: 50, latency: "usual" } as const;
const ONE_MASK = { count: 1, images: 1, mask: true };

const offers = withPublishedPrices("bfl", [
  {
    task: "image.generate",
    model: "flux-dev",
    upstreamModel: "flux-dev",
    recovery: "none",
    preference: 50,
    latency: "quick",
    limits: { sides: { least: 256, most: 1440, step: 32 }, count: 1, images: 0, mask: false },
    parameters: declareParameters("image.generate", {
      honours: ["prompt", "width", "height", "seed", "count"],
      adapts: {
        aspect_ratio: asSize,
        steps: within({ least: 1, most: 50 }),
        guidance: within({ least: 1.5, most: 5 }),
      },
      ignores: [
        ...LORA_PAIR_PARAMETERS,
        ...(["strength_model", "model_weight", "lora_1"] as const),
        ...(["negative_prompt", "cfg_scale", "scheduler", "upscale_factor"] as const),
      ],
      excludes: ["images", "model_id"],
    }),
    equivalence: "flux-dev",
    supports: ({ options }) => options?.model_id === undefined,
  },
  {
    ...KONTEXT,
    task: "image.generate",
    model: "flux-kontext-max",
    preference: 40,
    parameters: KONTEXT_GENERATE,
    equivalence: "flux-kontext-max",
  },
  {
    ...KONTEXT,
    task: "image.edit",
    model: "flux-kontext-max",
    preference: 40,
    parameters: KONTEXT_EDIT,
    equivalence: "flux-kontext-max",
  },
  {
    ...KONTEXT,
    task: "image.generate",
    model: "flux-kontext-multi",
    preference: 50,
    parameters: KONTEXT_GENERATE,
    equivalence: "flux-kontext-multi",
  },
  { ...KONTEXT, task: "image.edit", model: "edit-default", preference: 60, parameters: KONTEXT_EDIT },
  {
    ...MASKED,
    task: "image.edit",
    model: "edit-default",
    upstreamModel: "flux-pro-1.0-fill",
    limits: ONE_MASK,
    parameters: declareParameters("image.edit", {
      honours: ["prompt", "images", "mask", "seed", "count"],
      ignores: ["aspect_ratio"],
    }),
    equivalence: "mask-fill",
    supports: ({ mask }) => mask !== undefined,
  },
  {
    ...MASKED,
    task: "image.remove",
    model: "remove-default",
    upstreamModel: "flux-tools/erase-v1",
    limits: ONE_MASK,
    parameters: declareParameters("image.remove", {
      honours: ["images", "mask"],
      ignores: ["prompt", "remove_shadow", "multiple"],
    }),
    equivalence: "object-removal",
    supports: ({ mask }) => mask !== undefined,
  },
]);

const base64 = async (asset: Asset) => Buffer.from(await asset.bytes()).toString("base64");

/** Fields that only some models have. BFL uses our mask convention: white changes. */
async function buildRequestFields(job: Job<Asset>): Promise<JsonObject> {
  const images = job.images ?? [];
  if (job.mask) {
    const image = await base64(images[job.mask_over ?? 0]!);
    return { image, mask: await base64(job.mask), prompt: job.prompt };
  }
  if (job.model === "flux-dev") {
    const { steps, guidance } = job.options ?? {};
    return { prompt: job.prompt, width: job.width, height: job.height, steps, guidance };
  }
  const inputs = await Promise.all(
    images.map(async (image, n) => [n === 0 ? "input_image" : `input_image_${n + 1}`, await base64(image)] as const),
  );
  return { prompt: job.prompt, ...Object.fromEntries(inputs), aspect_ratio: job.aspect_ratio };
}

const NOT_FOUND = "Task not found";
const REGIONS = ["https://api.eu.bfl.ai", "https://api.us.bfl.ai"];
/** After this time, a job that no host knows and that no callback reported is given up. Jobs take up to 30 s. */
const MAX_UNKNOWN_SECONDS = 120;

const headers = (env: BflEnv) => ({ "x-key": env.BFL_API_KEY });

/** The webhook secret of an attempt, derived from its key. */
const secretOf = ({ env, key }: ProviderContext<BflEnv>) =>
  createHmac("sha256", env.BFL_API_KEY).update(`webhook ${key}`).digest("hex");

export const bfl = defineProvider<BflEnv>({
  id: "bfl",
  profile: {
    name: "Black Forest Labs",
    unlocks: "FLUX: generate, edit, fill masks, erase",
    keyPage: "https://dashboard.bfl.ai",
  },
  env: BflEnv,
  offers,
  rateLimit: { concurrent: 24 },
  resultOrigins: (env) => [
    new URL(env.BFL_BASE_URL).origin,
    "https://*.bfl.ai",
    "https://bfldeliveryprod.blob.core.windows.net",
    "https://bfldeliverysc.blob.core.windows.net",
  ],

  async submit(job, offer, context) {
    const { env, callbackUrl } = context;
    const { id, polling_url } = await callProvider(context, {
      origin: env.BFL_BASE_URL,
      headers: headers(env),
      url: `${env.BFL_BASE_URL}/v1/${offer.upstreamModel}`,
      body: {
        ...(await buildRequestFields(job)),
        seed: job.seed,
        output_format: "png",
        ...(callbackUrl && { webhook_url: callbackUrl, webhook_secret: secretOf(context) }),
      },
      reply: SubmitReply,
    });
    return { state: "running", ticket: { id, ...(polling_url && { polling_url }) } };
  },

  async poll(ticket, context) {
    const job = reportedOutcome(ticket) ?? (await readJobStatus(ticket, context));
    if (!job && pollingUrl(ticket, context.env)) throw jobFailed(NOT_FOUND);
    // Each host knows only its own jobs, so "not found" can mean a running job of another host.
    if (!job && context.submittedSeconds < MAX_UNKNOWN_SECONDS) return { state: "running", ticket };
    if (!job) throw providerFault("provider_outcome_unknown", { kind: "failed", cause: NOT_FOUND });
    const { status, result, progress, details } = job;
    if (status === "Ready" && result?.sample) return { state: "done", outputs: [{ url: result.sample }] };
    if (MODERATED.includes(status)) throw contentRefused({ status, details });
    if (hasEnded(status)) throw jobFailed({ status, details });
    return { state: "running", ticket, ...(typeof progress === "number" && { progress }) };
  },

  async parseCallback({ headers: given, body }, context) {
    if (!isAuthentic(given, body, secretOf(context))) return undefined;
    const { id, status, result } = CallbackBody.parse(JSON.parse(body));
    const { sample } = result ?? {};
    // A job that is ready without a file is read again.
    const isComplete = status === "Ready" ? sample : hasEnded(status);
    const outcome = { status, ...(sample && { sample }) };
    return { ticket: { id }, ended: status !== "Pending", ...(isComplete && { outcome }) };
  },

  async probe(offers, context) {
    const { BFL_BASE_URL: origin } = context.env;
    const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
    const about = { origin, hasNoSideEffects: true, headers: headers(context.env) };
    const { credits } = await callProvider(context, { ...about, url: `${origin}/v1/credits`, reply: Credits });
    const message = `the key works; ${credits} credits are left`;
    const routes = await callProvider(context, { ...about, url: `${origin}/openapi.json`, reply: Routes }).catch(
      () => undefined,
    );
    if (!routes) return { message, missing: [], unasked: names };
    return { message, missing: names.filter((name) => !(`/v1/${name}` in routes.paths)) };
  },
});

const MODERATED = ["Request Moderated", "Content Moderated"];
const hasEnded = (status: string) => ["Ready", "Error", "Failed", ...MODERATED].includes(status);

/** What the callback of the job reported, as `get_result` would. */
const reportedOutcome = ({ status, sample }: Ticket): z.output<typeof JobStatus> | undefined =>
  status ? { status, result: sample ? { sample } : null } : undefined;

/** The polling URL of the response, if it is on a host that may receive the key. */
function pollingUrl({ polling_url }: Ticket, env: BflEnv): string | undefined {
  if (!polling_url || !URL.canParse(polling_url)) return undefined;
  const { origin, protocol, hostname, port } = new URL(polling_url);
  const isProviderHost = protocol === "https:" && port === "" && hostname.endsWith(".bfl.ai");
  return isProviderHost || origin === new URL(env.BFL_BASE_URL).origin ? polling_url : undefined;
}

/** The state of the job, from the first host that knows it. */
async function readJobStatus(ticket: Ticket, context: ProviderContext<BflEnv>) {
  const { BFL_BASE_URL: base } = context.env;
  const polled = pollingUrl(ticket, context.env);
  const bases = new URL(base).origin === GLOBAL ? [base, ...REGIONS] : [base];
  const byId = bases.map((each) => `${each}/v1/get_result?id=${encodeURIComponent(ticket.id!)}`);
  for (const url of polled ? [polled] : byId) {
    const job = await readStatusAt(url, context);
    if (job) return job;
  }
  return undefined;
}

async function readStatusAt(
  url: string,
  context: ProviderContext<BflEnv>,
): Promise<z.output<typeof JobStatus> | undefined> {
  const missing = jobFailed(NOT_FOUND);
  const classify = (status: number) => (status === 404 ? missing : undefined);
  const { origin } = new URL(url);
  const request = callProvider(context, { origin, headers: headers(context.env), url, reply: JobStatus, classify });
  const job = await request.catch((thrown) => {
    if (thrown === missing) return undefined;
    throw thrown;
  });
  return job?.status === NOT_FOUND ? undefined : job;
}

/**
 * BFL's client sends the secret in a header, its guide documents a signature. If one of them is present, it must be
 * valid. If neither is, the signed callback URL authenticates the callback.
 */
function isAuthentic(given: Headers, body: string, secret: string): boolean {
  const proofs = [
    [given.get("x-webhook-secret"), secret],
    [given.get("x-bfl-signature"), `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`],
  ] as const;
  const shown = proofs.filter(([value]) => value !== null);
  return shown.length === 0 || shown.some(([value, expected]) => isSame(value ?? "", expected));
}

const isSame = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
