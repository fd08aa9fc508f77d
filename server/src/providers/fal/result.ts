// Reads the result of a job at fal. COMPLETED means only that the job ended: status and body of the result tell
// whether it succeeded, and a black image with an NSFW flag is a content refusal.
import { z } from "zod";
import type { Task } from "../../contract/operation.ts";
import type { Fault } from "../../faults/faults.ts";
import { contentRefused, inputRejected, jobFailed, providerFault } from "../call-provider.ts";
import { parseLanguageResult } from "../language/language-tasks.ts";
import type { JobDone, ProviderOutput, Ticket } from "../provider.ts";

const File = z.object({ url: z.url(), width: z.number().nullish(), height: z.number().nullish() });
export const FalResult = z.object({
  images: z.array(File).nullish(),
  image: File.nullish(),
  video: File.nullish(),
  masks: z.array(File).nullish(),
  scores: z.array(z.number()).nullish(),
  /** Center, width and height of each mask, as fractions of the image. */
  boxes: z.array(z.array(z.number())).nullish(),
  output: z.string().nullish(),
  error: z.string().nullish(),
  has_nsfw_concepts: z.array(z.boolean()).nullish(),
});
type Result = z.output<typeof FalResult>;

const FieldError = z.object({ type: z.string().default("") });
const Failed = z.object({
  detail: z.union([z.string(), z.array(FieldError)]),
  error_type: z.string().optional(),
});

/** Error types of a failed model. All other types are about invalid input. */
const MODEL_FAILED = /^(no_media_generated|generation_timeout|downstream_service_\w+|internal_server_error)$/;
/** No runner finished the job, and fal does not retry or bill it. */
const NEVER_RAN = /^(runner_\w+|startup_timeout)$/;

/** Statuses that can come from a proxy if the body is not fal's; then the result is read again. */
const GATEWAY_STATUSES = [502, 503, 504];

/** Classifies an error body of fal. Undefined if the body is not fal's. */
export function classifyResultStatus(status: number, body: string): Fault | undefined {
  const failure = readFailed(body);
  if (!failure || [401, 402, 403, 429].includes(status)) return undefined;
  const { detail, error_type = "" } = failure;
  const cause = body.slice(0, 500);
  if (typeof detail !== "string") return classifyInputError(body) ?? jobFailed(cause);
  if (NEVER_RAN.test(error_type)) return providerFault("provider_error", { kind: "gone", cause });
  if (!error_type && GATEWAY_STATUSES.includes(status)) return undefined;
  const isInputError = !error_type && (status === 400 || status === 422) && !/cancel/i.test(detail);
  return isInputError ? inputRejected(cause) : jobFailed(cause);
}

/** An input error in the format of fal's models. */
export function classifyInputError(body: string): Fault | undefined {
  const detail = readFailed(body)?.detail;
  if (!Array.isArray(detail)) return undefined;
  const types = detail.map(({ type }) => type);
  const cause = body.slice(0, 500);
  if (types.includes("content_policy_violation")) return contentRefused(cause);
  return types.some((type) => MODEL_FAILED.test(type)) ? undefined : inputRejected(cause);
}

function readFailed(body: string) {
  try {
    return Failed.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

export async function toJobDone(result: Result, ticket: Ticket): Promise<JobDone> {
  const task = ticket.task as Task;
  if (result.error) throw jobFailed(result.error);
  if (task === "image.describe" || task === "prompt.enhance") return readText(result, ticket);
  // A segmentation without a mask found nothing.
  if (task === "image.segment") return { state: "done", outputs: masksOf(result, ticket) };
  const outputs = filesOf(result);
  if (outputs.length === 0) throw jobFailed("a result without files");
  return { state: "done", outputs };
}

async function readText({ output }: Result, ticket: Ticket): Promise<JobDone> {
  const data = await parseLanguageResult({ task: ticket.task as Task, model: "" }, output ?? "");
  if (!data) throw jobFailed("a result without text");
  const size = ticket.width && { width: Number(ticket.width), height: Number(ticket.height) };
  return { state: "done", outputs: [], data: { ...data, ...size } };
}

function filesOf({ images, image, video, has_nsfw_concepts }: Result): ProviderOutput[] {
  const files = images ?? [image ?? video ?? []].flat();
  const shown = files.filter((_, index) => has_nsfw_concepts?.[index] !== true);
  if (shown.length === 0 && files.length > 0) throw contentRefused("has_nsfw_concepts");
  return shown.map(({ url }) => ({ url }));
}

function masksOf({ masks, image, scores, boxes }: Result, ticket: Ticket): ProviderOutput[] {
  const found = masks ?? (image ? [image] : []);
  return found.map(({ url, width, height }, index) => {
    const size = { width: width ?? Number(ticket.width), height: height ?? Number(ticket.height) };
    const score = scores?.[index];
    const box = boxOf(boxes?.[index], size);
    return { url, ...(score !== undefined && { score }), ...(box && { box }) };
  });
}

function boxOf(parts: number[] | undefined, size: { width: number; height: number }): ProviderOutput["box"] {
  const [middleX, middleY, across, down] = parts ?? [];
  if (middleX === undefined || middleY === undefined || across === undefined || down === undefined) return undefined;
  const [left, top] = [(middleX - across / 2) * size.width, (middleY - down / 2) * size.height];
  const [width, height] = [across * size.width, down * size.height].map(Math.round);
  return [left, top, width, height].every(Number.isFinite)
    ? { x: Math.max(0, Math.round(left)), y: Math.max(0, Math.round(top)), width: width!, height: height! }
    : undefined;
}
