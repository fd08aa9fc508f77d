// Luma's Dream Machine: creates a generation and polls it by ID. Luma fetches images by URL, so it needs a reachable
// PUBLIC_URL. A lost generation is found by its callback URL.
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import type { JsonObject } from "../contract/schemas/run.ts";
import { FRAME_PARAMETERS } from "../contract/task-parameters.ts";
import type { Fault } from "../faults/faults.ts";
import { callProvider, contentRefused, jobFailed, modelUnavailable } from "./call-provider.ts";
import { keyOfCallbackUrl } from "./callback-key.ts";
import { declareParameters } from "./parameter-support.ts";
import { type Asset, defineProvider, type ProviderContext } from "./provider.ts";
import { type OfferSpec, withPublishedPrices } from "./with-published-prices.ts";

const LumaEnv = z.object({
  LUMA_API_KEY: z.string().min(1).describe("API key of Luma. Enables the provider"),
  LUMA_BASE_URL: z
    .url()
    .default("https://api.lumalabs.ai/dream-machine/v1")
    .describe("URL of the API, with its path prefix"),
});
type LumaEnv = z.output<typeof LumaEnv>;

const Generation = z.object({
  id: z.string(),
  state: z.string(),
  failure_reason: z.string().nullish(),
  assets: z.object({ image: z.url().nullish(), video: z.url().nullish() }).nullish(),
});
const Page = z.object({
  generations: z.array(
    z.object({
      id: z.string(),
      created_at: z.string().nullish(),
      request: z.object({ callback_url: z.string().nullish() }).nullish(),
    }),
  ),
  count: z.number().nullish(),
  has_more: z.boolean().nullish(),
});
const Credits = z.object({ credit_balance: z.number() });

const RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"];

const reframe = (model: string): OfferSpec => ({
  task: "image.reframe",
  model,
  upstreamModel: model,
  recovery: "find",
  preference: 50,
  latency: "usual",
  limits: { ratios: RATIOS, count: 1, images: 1 },
  parameters: declareParameters("image.reframe", {
    honours: ["prompt", "images", "aspect_ratio", ...FRAME_PARAMETERS],
  }),
  equivalence: model,
});

const offers = withPublishedPrices("luma", [
  reframe("photon-1"),
  reframe("photon-flash-1"),
  {
    task: "video.generate",
    model: "video-default",
    upstreamModel: "ray-2",
    recovery: "find",
    preference: 60,
    latency: "slow",
    limits: { ratios: RATIOS, durations: [5, 9], count: 1, images: 1 },
    // The API has no seed.
    parameters: declareParameters("video.generate", {
      honours: ["prompt", "images", "aspect_ratio", "duration"],
      ignores: ["negative_prompt", "seed", "fps", "cfg_scale", "motion_bucket_id"],
    }),
  },
]);

const api = (env: LumaEnv) => ({ origin: env.LUMA_BASE_URL, headers: { authorization: `Bearer ${env.LUMA_API_KEY}` } });
const isEnded = (state: string) => state === "completed" || state === "failed";
const isModerated = (text: string) => /moderat|content polic|safety|nsfw/i.test(text);

/** Luma uses one status for several errors; the text tells them apart. */
function classifyLumaError(status: number, body: string): Fault | undefined {
  if (status < 400 || status >= 500) return undefined;
  if (/insufficient (credits|balance)/i.test(body)) return modelUnavailable(body.slice(0, 500), status);
  return [400, 422].includes(status) && isModerated(body) ? contentRefused(body.slice(0, 500)) : undefined;
}

async function buildRequest(job: Job<Asset>): Promise<{ path: string; body: JsonObject }> {
  const options = job.options ?? {};
  const url = await job.images?.[0]?.url();
  const shape = { prompt: job.prompt, aspect_ratio: job.aspect_ratio };
  if (job.task === "video.generate") {
    const keyframes = url === undefined ? undefined : { frame0: { type: "image", url } };
    const duration = options.duration === undefined ? undefined : `${options.duration}s`;
    return { path: "video", body: { generation_type: "video", ...shape, keyframes, duration } };
  }
  const frame = Object.fromEntries(FRAME_PARAMETERS.map((field) => [field, options[field]]));
  return { path: "image/reframe", body: { generation_type: "reframe_image", ...shape, media: { url }, ...frame } };
}

export const luma = defineProvider<LumaEnv>({
  id: "luma",
  profile: {
    name: "Luma",
    unlocks: "outpainting with photon, videos",
    keyPage: "https://lumalabs.ai/dream-machine/api/keys",
  },
  env: LumaEnv,
  offers,
  pollSeconds: 3,
  rateLimit: { concurrent: 40, perMinute: 80 },
  resultOrigins: (env) => [new URL(env.LUMA_BASE_URL).origin, "https://*.cdn-luma.com", "https://*.lumalabs.ai"],

  async submit(job, offer, context) {
    if (job.images && !context.isPublicUrlReachable)
      throw modelUnavailable(new Error("Luma fetches images by URL, and PUBLIC_URL is not reachable"));
    const { path, body } = await buildRequest(job);
    const { id } = await callProvider(context, {
      ...api(context.env),
      url: `${context.env.LUMA_BASE_URL}/generations/${path}`,
      body: { model: offer.upstreamModel, ...body, callback_url: context.callbackUrl },
      reply: Generation,
      classify: classifyLumaError,
    });
    return { state: "running", ticket: { id } };
  },

  async poll(ticket, context) {
    const { state, assets, failure_reason } = await callProvider(context, {
      ...api(context.env),
      url: `${context.env.LUMA_BASE_URL}/generations/${encodeURIComponent(ticket.id!)}`,
      reply: Generation,
      classify: (status) => (status === 404 ? jobFailed("the generation no longer exists") : undefined),
    });
    if (!isEnded(state)) return { state: "running", ticket };
    const url = assets?.video ?? assets?.image;
    if (state === "completed" && url) return { state: "done", outputs: [{ url }] };
    throw isModerated(failure_reason ?? "") ? contentRefused(failure_reason) : jobFailed(failure_reason ?? "no file");
  },

  async findJob(context) {
    const first = await page(context, 0);
    const found = first.generations.find((each) => isOurs(each, context));
    if (found || !first.has_more) return found && { id: found.id };
    // The order of the list is not documented, so it is derived from the list itself.
    const [top, bottom] = [first.generations[0]?.created_at ?? "", first.generations.at(-1)?.created_at ?? ""];
    const second = await page(context, top < bottom ? Math.max(0, (first.count ?? 0) - PAGE) : PAGE);
    const older = second.generations.find((each) => isOurs(each, context));
    return older && { id: older.id };
  },

  async listJobs({ since, next }, context) {
    const offset = Number(next ?? 0);
    const { generations, has_more } = await page(context, offset);
    const times = generations.map(({ created_at }) => Date.parse(created_at ?? ""));
    // A list that begins with the newest ends where the period begins. The order of the list is not documented.
    const isOver = times[0]! > times.at(-1)! && times.at(-1)! < since.getTime();
    return {
      jobs: generations.map(({ id, created_at, request }) => ({
        ...{ ticket: { id }, key: keyOfCallbackUrl(request?.callback_url), created_at: created_at ?? undefined },
      })),
      next: has_more && !isOver ? String(offset + PAGE) : undefined,
    };
  },

  async cancel(ticket, context) {
    const url = `${context.env.LUMA_BASE_URL}/generations/${encodeURIComponent(ticket.id!)}`;
    await callProvider(context, { ...api(context.env), method: "DELETE", url, reply: z.unknown() });
    return { isUncharged: false };
  },

  // Luma signs nothing; the signed callback URL authenticates the callback.
  async parseCallback({ body }) {
    const { id, state } = Generation.parse(JSON.parse(body));
    return { ticket: { id }, ended: isEnded(state) };
  },

  async probe(offers, context) {
    const url = `${context.env.LUMA_BASE_URL}/credits`;
    const { credit_balance } = await callProvider(context, {
      ...api(context.env),
      hasNoSideEffects: true,
      url,
      reply: Credits,
    });
    const message = `the key works; ${(credit_balance / 100).toFixed(2)} US dollars are left`;
    return { message, missing: [], unasked: offers.map(({ upstreamModel }) => upstreamModel) };
  },
});

const PAGE = 100;

const page = (context: ProviderContext<LumaEnv>, offset: number) =>
  callProvider(context, {
    ...api(context.env),
    url: `${context.env.LUMA_BASE_URL}/generations?limit=${PAGE}&offset=${offset}`,
    reply: Page,
  });

/** Compares the path, which has our signature over the attempt. The host of PUBLIC_URL may have changed since. */
function isOurs(
  { request }: z.output<typeof Page>["generations"][number],
  { callbackUrl }: ProviderContext<LumaEnv>,
): boolean {
  const theirs = request?.callback_url;
  if (!theirs || !callbackUrl || !URL.canParse(theirs)) return false;
  const pathOf = (address: string) => new URL(address).pathname + new URL(address).search;
  return pathOf(theirs) === pathOf(callbackUrl);
}
