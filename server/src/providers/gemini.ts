// Google's Gemini API, or Vertex AI: one synchronous request. The 200 response has either the image or the reason why
// there is none.
// A lost response cannot be looked up. With `GEMINI_IMAGES=interactions`, images are made in the background instead.
import { z } from "zod";
import type { Job } from "../contract/operation.ts";
import { Fault } from "../faults/faults.ts";
import type { ReportedUsage } from "../prices/price.ts";
import { callProvider, contentRefused, jobFailed } from "./call-provider.ts";
import { GeminiEnv, isVertex, openModels } from "./gemini/api.ts";
import { cancelInteraction, parseInteractionEvent, pollInteraction, submitInteraction } from "./gemini/interactions.ts";
import { geminiOffers } from "./gemini/offers.ts";
import { promptFor } from "./gemini/prompt.ts";
import { buildInstruction, parseLanguageResult } from "./language/language-tasks.ts";
import { type Asset, defineProvider, type Offer, type ProviderContext } from "./provider.ts";

const Part = z.object({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  inlineData: z.object({ mimeType: z.string(), data: z.string() }).nullish(),
});
const TokenCount = z.number().min(0).nullish().catch(null);
const Content = z.object({
  usageMetadata: z
    .object({
      promptTokenCount: TokenCount,
      cachedContentTokenCount: TokenCount,
      candidatesTokenCount: TokenCount,
      candidatesTokensDetails: z.array(z.object({ modality: z.string(), tokenCount: TokenCount })).nullish(),
      thoughtsTokenCount: TokenCount,
    })
    .nullish()
    .catch(null),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  candidates: z
    .array(
      z.object({
        finishReason: z.string().nullish(),
        content: z.object({ parts: z.array(Part).nullish() }).nullish(),
      }),
    )
    .nullish(),
});
const Listed = z.array(z.object({ name: z.string() })).default([]);
const Models = z.object({ models: Listed, publisherModels: Listed });

/** Text takes seconds, so only images are requested in the background. */
const isInBackground = (env: GeminiEnv, { task }: Pick<Offer, "task">) =>
  env.GEMINI_IMAGES === "interactions" && !isTextTask(task) && !isVertex(env);
const isTextTask = (task: Offer["task"]) => task === "image.describe" || task === "prompt.enhance";

export const gemini = defineProvider<GeminiEnv>({
  id: "gemini",
  profile: {
    name: "Gemini",
    unlocks: "nanobanana, gemini-2.5, describe, enhance",
    keyPage: "https://aistudio.google.com/apikey",
  },
  env: GeminiEnv,
  offers: geminiOffers,
  // Results are always bytes.
  resultOrigins: (env) => [new URL(env.GEMINI_BASE_URL).origin],

  async submit(job, offer, context) {
    if (isTextTask(job.task)) return generateText(job, offer, context);
    return isInBackground(context.env, offer)
      ? submitInteraction(job, offer, context)
      : generateImage(job, offer, context);
  },

  async poll(ticket, context) {
    if (!ticket.id) throw new Fault("internal_error", {}, { cause: "synchronous jobs are never polled" });
    return pollInteraction(ticket, context);
  },

  async cancel(ticket, context) {
    await cancelInteraction(ticket, context);
    return { isUncharged: false };
  },

  callsBack: isInBackground,
  parseCallback: async (request) => parseInteractionEvent(request),

  async probe(offers, context) {
    const { origin, headers, classify, list } = await openModels(context);
    const request = { origin, headers, classify, url: `${origin}${list}`, hasNoSideEffects: true };
    const { models, publisherModels } = await callProvider(context, { ...request, reply: Models });
    const known = new Set([...models, ...publisherModels].map(({ name }) => name.split("/").at(-1)!));
    const missing = [...new Set(offers.map(({ upstreamModel }) => upstreamModel))].filter(
      (upstreamModel) => !known.has(upstreamModel),
    );
    return { message: `The key works; it may use ${known.size} models.`, missing };
  },
});

async function generateImage(job: Job<Asset>, offer: Offer, context: ProviderContext<GeminiEnv>) {
  // There is no mask field: the mask is an additional image that the prompt explains.
  const images = [...(job.images ?? []), ...(job.mask ? [job.mask] : [])];
  const imageConfig = { aspectRatio: job.aspect_ratio, imageSize: job.options?.resolution };
  const response = await generate(offer, context, {
    contents: [{ role: "user", parts: [{ text: promptFor(job) }, ...(await Promise.all(images.map(inline)))] }],
    generationConfig: {
      responseModalities: ["IMAGE"],
      seed: job.seed,
      ...((imageConfig.aspectRatio !== undefined || imageConfig.imageSize !== undefined) && { imageConfig }),
    },
  });
  // One image per request: earlier images in the response are drafts.
  const image = partsOf(response).findLast(({ inlineData }) => inlineData)?.inlineData;
  if (!image) throw classifyEmptyResponse(response);
  return {
    state: "done" as const,
    outputs: [{ bytes: Buffer.from(image.data, "base64"), media_type: image.mimeType }],
    usage: imageUsage(response),
  };
}

async function generateText(job: Job<Asset>, offer: Offer, context: ProviderContext<GeminiEnv>) {
  const { instruction, schema } = buildInstruction(job);
  const image = job.images?.[0];
  const response = await generate(offer, context, {
    systemInstruction: { parts: [{ text: instruction }] },
    contents: [{ role: "user", parts: [image ? await inline(image) : { text: job.prompt }] }],
    generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
  });
  const texts = partsOf(response).flatMap(({ text }) => text ?? []);
  const isWhole = (response.candidates?.[0]?.finishReason ?? "STOP") === "STOP";
  const data = isWhole ? await parseLanguageResult(job, texts.join("")) : undefined;
  if (!data) throw classifyEmptyResponse(response);
  return { state: "done" as const, outputs: [], data, usage: textUsage(response) };
}

/** Thoughts are billed as text. Undefined if the response does not tell what the image had. */
function imageUsage({ usageMetadata: usage }: GenerateReply): ReportedUsage | undefined {
  const image = usage?.candidatesTokensDetails?.find(({ modality }) => modality === "IMAGE")?.tokenCount;
  if (typeof image !== "number" || typeof usage?.promptTokenCount !== "number") return undefined;
  const otherOutput = Math.max(0, (usage.candidatesTokenCount ?? image) - image);
  return {
    input_token: usage.promptTokenCount,
    output_text_token: otherOutput + (usage.thoughtsTokenCount ?? 0),
    output_image_token: image,
  };
}

function textUsage({ usageMetadata: usage }: GenerateReply): ReportedUsage | undefined {
  if (typeof usage?.promptTokenCount !== "number" || typeof usage.candidatesTokenCount !== "number") return undefined;
  const cached = Math.min(usage.promptTokenCount, usage.cachedContentTokenCount ?? 0);
  return {
    input_token: usage.promptTokenCount - cached,
    cached_input_token: cached,
    output_token: usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0),
  };
}

async function generate(offer: Offer, context: ProviderContext<GeminiEnv>, body: object) {
  const { origin, headers, classify, models } = await openModels(context);
  const url = `${origin}${models}/${offer.upstreamModel}:generateContent`;
  return callProvider(context, { origin, headers, classify, url, body, reply: Content });
}

const inline = async (asset: Asset) => ({
  inlineData: { mimeType: asset.media_type, data: Buffer.from(await asset.bytes()).toString("base64") },
});

type GenerateReply = z.output<typeof Content>;

/** Removes the thoughts of the model, which can be text or images. */
const partsOf = ({ candidates }: GenerateReply) =>
  (candidates?.[0]?.content?.parts ?? []).filter(({ thought }) => !thought);

const REFUSED = /SAFETY|PROHIBITED_CONTENT|RECITATION|BLOCKLIST|SPII/;

function classifyEmptyResponse({ promptFeedback, candidates }: GenerateReply): Fault {
  const blocked = promptFeedback?.blockReason;
  const ended = candidates?.[0]?.finishReason ?? "";
  if (blocked || REFUSED.test(ended)) return contentRefused(blocked ?? ended);
  return jobFailed(ended === "STOP" ? "a response without an image" : ended);
}
