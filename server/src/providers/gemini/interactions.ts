// Images as background interactions of the Gemini API: the response to the submission is an ID, and the result can be
// read with it for at least a day. A crash in between loses nothing, and the callback of a submission whose response
// was lost tells its ID.
import { z } from "zod";
import type { Job } from "../../contract/operation.ts";
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Fault } from "../../faults/faults.ts";
import type { ReportedUsage } from "../../prices/price.ts";
import { callProvider, contentRefused, jobFailed } from "../call-provider.ts";
import type {
  Asset,
  CallbackRequest,
  CallbackStatus,
  JobProgress,
  Offer,
  ProviderContext,
  Ticket,
} from "../provider.ts";
import { type GeminiEnv, geminiApi } from "./api.ts";
import { promptFor } from "./prompt.ts";

const TokenCount = z.number().min(0).nullish().catch(null);
const Image = z.object({
  type: z.string(),
  data: z.string().nullish(),
  mime_type: z.string().nullish(),
});
const Interaction = z.object({
  id: z.string(),
  status: z.string(),
  errors: z.array(z.object({ code: z.string().nullish(), message: z.string().nullish() })).nullish(),
  steps: z
    .array(
      z.object({
        type: z.string(),
        content: z.array(Image).nullish().catch(null),
        error: z.object({ message: z.string().nullish() }).nullish().catch(null),
      }),
    )
    .nullish(),
  usage: z
    .object({
      total_input_tokens: TokenCount,
      total_output_tokens: TokenCount,
      total_thought_tokens: TokenCount,
      output_tokens_by_modality: z.array(z.object({ modality: z.string().nullish(), tokens: TokenCount })).nullish(),
    })
    .nullish()
    .catch(null),
});
type Interaction = z.output<typeof Interaction>;
const Event = z.object({ type: z.string(), data: z.object({ id: z.string() }) });

const urlOf = (env: GeminiEnv, path = "") => `${geminiApi(env).origin}/v1beta/interactions${path}`;

export async function submitInteraction(
  job: Job<Asset>,
  offer: Offer,
  context: ProviderContext<GeminiEnv>,
): Promise<JobProgress> {
  const images = [...(job.images ?? []), ...(job.mask ? [job.mask] : [])];
  const body: JsonObject = {
    model: offer.upstreamModel,
    input: [{ type: "text", text: promptFor(job) }, ...(await Promise.all(images.map(imageContent)))],
    response_format: {
      type: "image",
      delivery: "inline",
      aspect_ratio: job.aspect_ratio,
      image_size: job.options?.resolution,
    },
    ...(job.seed !== undefined && { generation_config: { seed: job.seed } }),
    background: true,
    store: true,
    ...(context.callbackUrl && { webhook_config: { uris: [context.callbackUrl] } }),
  };
  const { id } = await callProvider(context, {
    ...geminiApi(context.env),
    url: urlOf(context.env),
    body,
    reply: Interaction,
  });
  return { state: "running", ticket: { id } };
}

const imageContent = async (asset: Asset): Promise<JsonObject> => ({
  type: "image",
  mime_type: asset.media_type,
  data: Buffer.from(await asset.bytes()).toString("base64"),
});

const isOpen = (status: string) => ["queued", "in_progress"].includes(status);

export async function pollInteraction({ id }: Ticket, context: ProviderContext<GeminiEnv>): Promise<JobProgress> {
  const { classify, ...api } = geminiApi(context.env);
  const interaction = await callProvider(context, {
    ...api,
    url: urlOf(context.env, `/${encodeURIComponent(id!)}`),
    reply: Interaction,
    classify: (status, body) =>
      status === 404 ? jobFailed("the interaction no longer exists") : classify(status, body),
  });
  if (isOpen(interaction.status)) return { state: "running", ticket: { id: id! } };
  const outputs = (interaction.steps ?? []).filter(({ type }) => type === "model_output");
  // One image per request: earlier images are drafts.
  const image = outputs.flatMap(({ content }) => content ?? []).findLast(({ type, data }) => type === "image" && data);
  if (interaction.status !== "completed" || !image?.data) throw classifyEnd(interaction);
  return {
    state: "done",
    outputs: [{ bytes: Buffer.from(image.data, "base64"), media_type: image.mime_type ?? "image/png" }],
    usage: interactionUsage(interaction),
  };
}

const REFUSED = /safety|prohibited|recitation|blocklist|spii|content.?policy/i;

function classifyEnd({ status, errors, steps }: Interaction): Fault {
  const reported = [
    ...(errors ?? []).map(({ code, message }) => `${code ?? ""} ${message ?? ""}`),
    ...(steps ?? []).flatMap(({ error }) => error?.message ?? []),
  ].join("; ");
  const cause = `${status} ${reported}`.trim();
  return REFUSED.test(reported) ? contentRefused(cause) : jobFailed(cause);
}

/** Thoughts are billed as text. Undefined if the response does not tell what the image had. */
function interactionUsage({ usage }: Interaction): ReportedUsage | undefined {
  const image = usage?.output_tokens_by_modality?.find(({ modality }) => /^image$/i.test(modality ?? ""))?.tokens;
  if (typeof image !== "number" || typeof usage?.total_input_tokens !== "number") return undefined;
  return {
    input_token: usage.total_input_tokens,
    output_text_token: Math.max(0, (usage.total_output_tokens ?? image) - image) + (usage.total_thought_tokens ?? 0),
    output_image_token: image,
  };
}

export async function cancelInteraction({ id }: Ticket, context: ProviderContext<GeminiEnv>): Promise<void> {
  const url = urlOf(context.env, `/${encodeURIComponent(id!)}/cancel`);
  await callProvider(context, { ...geminiApi(context.env), method: "POST", url, reply: z.unknown() });
}

/** The signed callback URL authenticates the event, and the result is read with our key. */
export function parseInteractionEvent({ body }: CallbackRequest): CallbackStatus | undefined {
  const { type, data } = Event.parse(JSON.parse(body));
  if (!type.startsWith("interaction.")) return undefined;
  return { ticket: { id: data.id }, ended: true };
}
