// Ideogram 3.0: one synchronous multipart request that returns URLs of images, which expire soon. A lost response
// cannot be looked up.
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { readImageSize } from "../files/formats/image-size.ts";
import { callProvider, contentRefused, jobFailed } from "./call-provider.ts";
import { convertImage } from "./convert-image.ts";
import { nearestResolution, RATIOS } from "./ideogram/resolutions.ts";
import { adaptedBy, declareParameters, onlyWith, seedBelow, unlessWith } from "./parameter-support.ts";
import { type Asset, defineProvider, type JobDone, type Offer, type ProviderContext } from "./provider.ts";
import { withPublishedPrices } from "./with-published-prices.ts";

const IdeogramEnv = z.object({
  IDEOGRAM_API_KEY: z.string().min(1).describe("API key of Ideogram. Enables the provider"),
  IDEOGRAM_BASE_URL: z.url().default("https://api.ideogram.ai").describe("URL of the API"),
});
type IdeogramEnv = z.output<typeof IdeogramEnv>;

const Pictures = z.object({
  data: z.array(z.object({ url: z.string().nullish(), is_image_safe: z.boolean().optional() })),
});
const Descriptions = z.object({ descriptions: z.array(z.object({ text: z.string().optional() })) });

const BLOCKING = { recovery: "none", synchronousSeconds: 120 } as const;
const SEED = seedBelow(2 ** 31);

/** The size that is nearest to the aspect ratio of the job, with about the requested longer side. */
function toSize(longerSide: unknown, { aspect_ratio = "1:1" }: Job<unknown>): unknown {
  const [width = 1, height = 1] = aspect_ratio.split(":").map(Number);
  return nearestResolution({ width, height }, Number(longerSide));
}

const offers = withPublishedPrices("ideogram", [
  {
    ...BLOCKING,
    task: "image.character",
    model: "character-default",
    upstreamModel: "ideogram-v3",
    preference: 40,
    latency: "usual",
    limits: { ratios: RATIOS, count: 8, images: 2, mask: true },
    parameters: declareParameters("image.character", {
      honours: ["prompt", "images", "mask", "rendering_speed", "style_type", "magic_prompt_option"],
      adapts: {
        seed: SEED,
        // With a mask, the result has the size of the image.
        aspect_ratio: unlessWith("mask"),
        resolution: unlessWith(
          "mask",
          onlyWith("aspect_ratio", adaptedBy("the nearest size, about 1 megapixel", toSize)),
        ),
      },
    }),
    equivalence: "ideogram-character",
  },
  {
    ...BLOCKING,
    task: "image.edit",
    model: "edit-default",
    upstreamModel: "ideogram-v3",
    preference: 60,
    latency: "usual",
    limits: { count: 8, images: 1, mask: true },
    parameters: declareParameters("image.edit", {
      honours: ["prompt", "images", "mask", "count"],
      adapts: { seed: SEED },
      ignores: ["aspect_ratio"],
    }),
    equivalence: "mask-fill",
    supports: ({ mask }) => mask !== undefined,
  },
  {
    ...BLOCKING,
    task: "image.remove-background",
    model: "remove-background-default",
    upstreamModel: "remove-background",
    preference: 60,
    latency: "quick",
    limits: { count: 1, images: 1 },
    parameters: declareParameters("image.remove-background", { honours: ["images"] }),
    equivalence: "remove-background",
  },
  {
    ...BLOCKING,
    task: "image.describe",
    model: "describe-default",
    upstreamModel: "describe",
    preference: 60,
    latency: "quick",
    limits: { images: 1 },
    // Ideogram returns several descriptions; `detail` selects one.
    parameters: declareParameters("image.describe", { honours: ["images", "detail"], ignores: ["language"] }),
    equivalence: "describe",
  },
]);

type FormFile = { media_type: string; bytes(): Promise<Uint8Array> };
type FormRequest = { path: string; fields: Record<string, string | number | FormFile | undefined> };

const upper = (value: unknown) => (typeof value === "string" ? value.toUpperCase() : undefined);

/** In Ideogram's masks, black changes. */
const inverted = (mask: Asset, context: ProviderContext<IdeogramEnv>): FormFile => ({
  media_type: "image/png",
  bytes: async () => convertImage(context, { name: "invert-mask" }, await mask.bytes()),
});

async function buildFormRequest(
  job: Job<Asset>,
  { upstreamModel }: Offer,
  context: ProviderContext<IdeogramEnv>,
): Promise<FormRequest> {
  const [first, second] = job.images ?? [];
  if (job.task === "image.describe") return { path: `/${upstreamModel}`, fields: { image_file: first } };
  if (job.task === "image.remove-background") return { path: `/v1/${upstreamModel}`, fields: { image: first } };
  const [character, source] = job.task === "image.character" ? [first, second] : [undefined, first];
  const { rendering_speed, style_type, magic_prompt_option } = job.options ?? {};
  const fields = {
    prompt: job.prompt,
    image: source,
    character_reference_images: character,
    rendering_speed: upper(rendering_speed),
    style_type: upper(style_type),
    magic_prompt: upper(magic_prompt_option),
    num_images: job.count,
    seed: job.seed,
  };
  if (source && job.mask)
    return { path: `/v1/${upstreamModel}/inpaint`, fields: { ...fields, mask: inverted(job.mask, context) } };
  const shaped = { ...fields, negative_prompt: job.negative_prompt, ...(await shapeOf(job, source)) };
  return { path: `/v1/${upstreamModel}/${source ? "remix" : "generate"}`, fields: shaped };
}

/** An aspect ratio by name, or one of Ideogram's sizes. Without either, an image keeps its own aspect ratio. */
async function shapeOf({ aspect_ratio, options }: Job<Asset>, source: Asset | undefined) {
  if (options?.resolution) return { resolution: options.resolution as string };
  if (aspect_ratio || !source) return { aspect_ratio: aspect_ratio?.replace(":", "x") };
  return { resolution: nearestResolution(readImageSize(await source.bytes())) };
}

async function formOf(fields: FormRequest["fields"]): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (typeof value !== "object") form.append(name, String(value));
    else {
      const type = value.media_type;
      form.append(name, new Blob([Buffer.from(await value.bytes())], { type }), `${name}.${type.split("/")[1]}`);
    }
  }
  return form;
}

const api = (env: IdeogramEnv) => ({ origin: env.IDEOGRAM_BASE_URL, headers: { "api-key": env.IDEOGRAM_API_KEY } });

export const ideogram = defineProvider<IdeogramEnv>({
  id: "ideogram",
  profile: {
    name: "Ideogram",
    unlocks: "characters, masks, backgrounds, describe",
    keyPage: "https://ideogram.ai/manage-api",
  },
  env: IdeogramEnv,
  offers,
  rateLimit: { concurrent: 10 },
  resultOrigins: (env) => [new URL(env.IDEOGRAM_BASE_URL).origin, "https://ideogram.ai", "https://*.ideogram.ai"],

  async submit(job, offer, context) {
    const { path, fields } = await buildFormRequest(job, offer, context);
    const request = { url: `${context.env.IDEOGRAM_BASE_URL}${path}`, body: await formOf(fields) };
    if (job.task === "image.describe") {
      return described(job, await send(context, { ...request, reply: Descriptions }));
    }
    const { data } = await send(context, { ...request, reply: Pictures });
    const outputs = data.flatMap(({ url, is_image_safe }) => (url && is_image_safe !== false ? [{ url }] : []));
    if (outputs.length > 0) return { state: "done", outputs };
    throw data.some(({ is_image_safe }) => is_image_safe === false)
      ? contentRefused("unsafe")
      : jobFailed("no image in the response");
  },

  async poll() {
    throw new Fault("internal_error", {}, { cause: "synchronous jobs are never polled" });
  },

  async probe(offers, context) {
    const url = `${context.env.IDEOGRAM_BASE_URL}/models`;
    await callProvider(context, { ...api(context.env), hasNoSideEffects: true, url, reply: z.looseObject({}) });
    return {
      message: "the key works",
      missing: [],
      unasked: [...new Set(offers.map(({ upstreamModel }) => upstreamModel))],
    };
  },
});

/** Ideogram uses 422 only for content that its policy refuses. */
const send = <Reply>(
  context: ProviderContext<IdeogramEnv>,
  request: { url: string; body: FormData; reply: z.ZodType<Reply> },
): Promise<Reply> =>
  callProvider(context, {
    ...api(context.env),
    ...request,
    classify: (status, body) => (status === 422 ? contentRefused(body.slice(0, 500)) : undefined),
  });

/** Ideogram returns several descriptions; the requested length selects one. */
async function described(job: Job<Asset>, { descriptions }: z.output<typeof Descriptions>): Promise<JobDone> {
  const texts = descriptions.flatMap(({ text }) => (text?.trim() ? [text.trim()] : []));
  const byLength = texts.toSorted((a, b) => a.length - b.length);
  const detail = job.options?.detail;
  const text = detail === "short" ? byLength[0] : detail === "long" ? byLength.at(-1) : texts[0];
  if (!text) throw jobFailed("no description");
  const size = readImageSize(await job.images![0]!.bytes());
  return { state: "done", outputs: [], data: { description: text, tags: [], prompt: text, ...size } };
}
