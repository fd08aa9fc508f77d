// OpenAI's Images API, Azure OpenAI, or a compatible server: one synchronous request that returns the images. A lost
// response cannot be looked up. Text tasks use the Responses API in the same way.
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import { readImageSize } from "../files/formats/image-size.ts";
import type { ReportedUsage } from "../prices/price.ts";
import {
  callProvider,
  contentRefused,
  inputRejected,
  jobFailed,
  modelUnavailable,
  providerBusy,
} from "./call-provider.ts";
import { convertImage } from "./convert-image.ts";
import { buildInstruction, parseLanguageResult } from "./language/language-tasks.ts";
import { isAzure, OpenAiEnv, openaiApi } from "./openai/api.ts";
import { openaiOffers } from "./openai/offers.ts";
import { nearestSizeTo, sizeOf } from "./openai/size.ts";
import { type Asset, defineProvider, type Offer, type ProviderContext, type ProviderOutput } from "./provider.ts";

const TokenCount = z.number().min(0).nullish().catch(null);
const ImagesReply = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })).default([]),
  output_format: z.string().nullish(),
  usage: z
    .object({
      input_tokens_details: z.object({ text_tokens: TokenCount, image_tokens: TokenCount }).nullish(),
      output_tokens: TokenCount,
      output_tokens_details: z.object({ text_tokens: TokenCount, image_tokens: TokenCount }).nullish(),
    })
    .nullish()
    .catch(null),
});
const ResponsesReply = z.object({
  status: z.string().nullish(),
  error: z.object({ code: z.string().nullish() }).nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  usage: z
    .object({
      input_tokens: TokenCount,
      input_tokens_details: z.object({ cached_tokens: TokenCount }).nullish(),
      output_tokens: TokenCount,
    })
    .nullish()
    .catch(null),
  output: z
    .array(
      z.object({
        content: z.array(z.object({ type: z.string(), text: z.string().nullish() })).nullish(),
      }),
    )
    .default([]),
});
const ErrorReply = z.object({
  error: z.object({ code: z.string().nullish(), type: z.string().nullish(), param: z.string().nullish() }),
});
const Models = z.object({ data: z.array(z.object({ id: z.string() })) });

export const openai = defineProvider<OpenAiEnv>({
  id: "openai",
  profile: {
    name: "OpenAI",
    unlocks: "vendora, describe, enhance",
    keyPage: "https://platform.openai.com/api-keys",
  },
  env: OpenAiEnv,
  offers: openaiOffers,
  resultOrigins: (env) => [new URL(env.OPENAI_BASE_URL).origin],

  async submit(job, offer, context) {
    const isTextTask = job.task === "image.describe" || job.task === "prompt.enhance";
    return isTextTask ? generateText(job, offer, context) : generateImages(job, offer, context);
  },

  async poll() {
    throw new Fault("internal_error", {}, { cause: "synchronous jobs are never polled" });
  },

  async probe(offers, context) {
    const { origin, headers, urlOf } = openaiApi(context.env);
    const { data } = await callProvider(context, {
      origin,
      headers,
      url: urlOf("/models"),
      hasNoSideEffects: true,
      reply: Models,
    });
    const names = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))];
    // Azure lists the models that could be deployed; which ones are is no free request.
    if (isAzure(context.env)) return { message: "The key works at Azure.", missing: [], unasked: names };
    const known = new Set(data.map(({ id }) => id));
    const missing = names.filter((upstreamModel) => !known.has(upstreamModel));
    return { message: `The key works; it may use ${known.size} models.`, missing };
  },
});

const REMOVAL_PROMPT =
  "Remove everything in the masked area and fill it with the background around it. Add no new object.";

async function generateImages(job: Job<Asset>, offer: Offer, context: ProviderContext<OpenAiEnv>) {
  const { origin, headers, urlOf, modelOf } = openaiApi(context.env);
  const images = ordered(job);
  const masked = images[0] && job.mask ? readImageSize(await images[0].bytes()) : undefined;
  const fields = {
    model: modelOf(offer),
    prompt: job.task === "image.remove" ? REMOVAL_PROMPT : job.prompt,
    n: job.count,
    size: masked ? nearestSizeTo(masked, offer) : sizeOf(job),
    output_format: "png",
  };
  const mask =
    job.mask && masked && (await convertImage(context, { name: "alpha-mask", size: masked }, await job.mask.bytes()));
  const request =
    images.length > 0
      ? { url: urlOf("/images/edits", offer), body: await formOf(fields, images, mask) }
      : { url: urlOf("/images/generations", offer), body: fields };
  const classify = classifyOpenAiError;
  const response = await callProvider(context, { origin, headers, classify, ...request, reply: ImagesReply });
  const outputs = response.data.flatMap((each) => outputOf(each, response.output_format ?? "png"));
  if (outputs.length === 0) throw jobFailed("a response without images");
  return { state: "done" as const, outputs, usage: imageUsage(response) };
}

/** Without both sums the bill cannot be computed, so nothing is reported. */
function imageUsage({ usage }: z.output<typeof ImagesReply>): ReportedUsage | undefined {
  const { text_tokens, image_tokens } = usage?.input_tokens_details ?? {};
  const output = usage?.output_tokens_details;
  const output_image_token = output?.image_tokens ?? usage?.output_tokens;
  if (typeof output_image_token !== "number") return undefined;
  return {
    input_text_token: text_tokens ?? 0,
    input_image_token: image_tokens ?? 0,
    output_text_token: output?.text_tokens ?? 0,
    output_image_token,
  };
}

/** OpenAI applies a mask to the first image. */
function ordered({ images = [], mask, mask_over = 0 }: Job<Asset>): Asset[] {
  if (!mask || mask_over === 0) return images;
  return [...images.slice(mask_over, mask_over + 1), ...images.filter((_, index) => index !== mask_over)];
}

type Fields = Record<string, string | number | undefined>;

async function formOf(fields: Fields, images: Asset[], mask: Uint8Array | undefined): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value));
  for (const [index, image] of images.entries()) {
    const file = new Blob([Buffer.from(await image.bytes())], { type: image.media_type });
    const ending = image.media_type.replace("image/", "");
    form.append(images.length > 1 ? "image[]" : "image", file, `image-${index + 1}.${ending}`);
  }
  if (mask) form.append("mask", new Blob([Buffer.from(mask)], { type: "image/png" }), "mask.png");
  return form;
}

/** OpenAI always returns bytes; some compatible servers return a URL. */
function outputOf({ b64_json, url }: z.output<typeof ImagesReply>["data"][number], format: string): ProviderOutput[] {
  if (b64_json) {
    const bytes = Buffer.from(b64_json.replace(/^data:[^,]*,/, ""), "base64");
    return [{ bytes, media_type: `image/${format}` }];
  }
  return url ? [{ url }] : [];
}

async function generateText(job: Job<Asset>, offer: Offer, context: ProviderContext<OpenAiEnv>) {
  const { origin, headers, urlOf, modelOf } = openaiApi(context.env);
  const { instruction, schema } = buildInstruction(job);
  const image = job.images?.[0];
  const content = image
    ? { type: "input_image", image_url: await dataUrl(image), detail: "auto" }
    : { type: "input_text", text: job.prompt };
  const response = await callProvider(context, {
    ...{ origin, headers, classify: classifyOpenAiError },
    url: urlOf("/responses"),
    body: {
      model: modelOf(offer),
      instructions: instruction,
      input: [{ role: "user", content: [content] }],
      text: { format: { type: "json_schema", name: job.task.replace(".", "_"), schema, strict: true } },
      // The response is not read again, so OpenAI need not store it.
      store: false,
    },
    reply: ResponsesReply,
  });
  const data = await parseLanguageResult(job, textOf(response));
  if (!data) throw jobFailed("a response without text");
  return { state: "done" as const, outputs: [], data, usage: textUsage(response) };
}

function textUsage({ usage }: z.output<typeof ResponsesReply>): ReportedUsage | undefined {
  if (typeof usage?.input_tokens !== "number" || typeof usage.output_tokens !== "number") return undefined;
  const cached = Math.min(usage.input_tokens, usage.input_tokens_details?.cached_tokens ?? 0);
  return {
    input_token: usage.input_tokens - cached,
    cached_input_token: cached,
    output_token: usage.output_tokens,
  };
}

const dataUrl = async (asset: Asset) =>
  `data:${asset.media_type};base64,${Buffer.from(await asset.bytes()).toString("base64")}`;

/** The text of the response. A 200 response can also contain a refusal, which is thrown. */
function textOf({ status, error, incomplete_details, output }: z.output<typeof ResponsesReply>): string {
  const code = error?.code ?? incomplete_details?.reason ?? "";
  const parts = output.flatMap(({ content }) => content ?? []);
  if (REFUSED.has(code) || parts.some(({ type }) => type === "refusal")) throw contentRefused(code || "refusal");
  if (code === "rate_limit_exceeded") throw providerBusy(code);
  if (/^(invalid|image|empty|unsupported)_/.test(code)) throw inputRejected(code);
  if (error || (status && status !== "completed")) throw jobFailed(code || status);
  return parts.flatMap(({ type, text }) => (type === "output_text" ? (text ?? "") : [])).join("");
}

const REFUSED = new Set([
  "moderation_blocked",
  "content_policy_violation",
  "image_content_policy_violation",
  "content_filter",
  "bio_policy",
  "misalignment_policy_violation",
]);
const BILLING_ERRORS = new Set(["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"]);

function classifyOpenAiError(status: number, body: string): Fault | undefined {
  const { code, type, param } = readError(body);
  const cause = body.slice(0, 500);
  if (REFUSED.has(code ?? "")) return contentRefused(cause);
  // An error body of OpenAI means that the job failed. Any other 500 can come from a proxy, so its outcome is unknown.
  if (type === "image_generation_server_error") return jobFailed(cause);
  if (BILLING_ERRORS.has(code ?? "") || BILLING_ERRORS.has(type ?? "")) return modelUnavailable(cause, status);
  const isModel = code === "model_not_found" || (param === "model" && status < 500);
  return isModel ? modelUnavailable(cause, status) : undefined;
}

function readError(body: string): z.output<typeof ErrorReply>["error"] {
  try {
    return ErrorReply.parse(JSON.parse(body)).error;
  } catch {
    return {};
  }
}
