// Renders errors as OpenAI's API does: `{ error: { message, type, code, param } }`. The status and the header
// `x-should-retry` tell OpenAI's clients whether to send the request again.
import type { Context } from "hono";
import { Fault, type FaultCode, toFault, type ValidationIssue } from "../../faults/faults.ts";
import type { Log } from "../../observe/log.ts";

export type OpenAiError = { message: string; type: string; code: string; param: string | null };
type ErrorResponse = { status: number; error: OpenAiError; shouldRetry?: boolean };

/** Codes that OpenAI's clients know by another status or name. */
const KNOWN_ERRORS: Partial<Record<FaultCode, Partial<Omit<OpenAiError, "message">> & { status?: number }>> = {
  authentication_required: { type: "invalid_request_error", code: "invalid_api_key" },
  invalid_api_key: { type: "invalid_request_error" },
  model_not_found: { type: "invalid_request_error", param: "model" },
  insufficient_credits: { status: 429, type: "insufficient_quota", code: "insufficient_quota" },
  spend_limit_reached: { status: 429, type: "insufficient_quota", code: "insufficient_quota" },
  price_unknown: { status: 429, type: "insufficient_quota", code: "insufficient_quota" },
  rate_limited: { code: "rate_limit_exceeded" },
  concurrency_limit_reached: { code: "rate_limit_exceeded" },
  content_refused: { status: 400, type: "image_generation_user_error", code: "moderation_blocked" },
  mask_mismatch: { param: "mask" },
  unsupported_image_format: { status: 400, param: "image" },
  image_undecodable: { param: "image" },
  image_too_many_pixels: { param: "image" },
  image_too_small: { param: "image" },
  image_animated_not_supported: { param: "image" },
  url_not_allowed: { param: "image" },
  too_many_parts: { param: "image" },
};

/** The client gets the same error again if it repeats the request. */
const NOT_WORTH_RETRYING: FaultCode[] = [
  "insufficient_credits",
  "spend_limit_reached",
  "price_unknown",
  "model_unavailable",
];

/** Names of Gesso's fields in requests of OpenAI clients. */
const PARAMS: Record<string, string> = {
  model_type: "model",
  batch_size: "n",
  width: "size",
  height: "size",
  aspect_ratio: "size",
  images: "image",
  image_url: "image",
};

/** `isFinal`: the run has ended, so a client that sends its request again would only get the same run again. */
export function toErrorResponse(thrown: unknown, { isFinal = false } = {}): ErrorResponse {
  const fault = toFault(thrown);
  const known = KNOWN_ERRORS[fault.code] ?? {};
  // OpenAI has no 422: a request that cannot be processed as it is gets 400.
  const status = known.status ?? (fault.status === 422 ? 400 : fault.status);
  const issues = (fault.details.errors ?? []) as ValidationIssue[];
  const error = {
    message: describe(fault, issues),
    type: known.type ?? typeOfStatus(status),
    code: known.code ?? issues[0]?.code ?? fault.code,
    param: known.param ?? (issues[0] ? paramOf(issues[0]) : null),
  };
  if (isFinal || NOT_WORTH_RETRYING.includes(fault.code)) return { status, error, shouldRetry: false };
  // The run continues. A client that sends the request again joins it.
  return fault.code === "sync_timeout" ? { status, error, shouldRetry: true } : { status, error };
}

export function respondWithOpenAiError(
  context: Context,
  thrown: unknown,
  log: Log,
  options: { isFinal?: boolean } = {},
): Response {
  const fault = toFault(thrown);
  const { status, error, shouldRetry } = toErrorResponse(fault, options);
  const requestId = context.res.headers.get("x-request-id") ?? "";
  if (status >= 500)
    log.error({ request_id: requestId, code: fault.code, err: fault.cause ?? fault }, "request failed");
  if (shouldRetry !== undefined) context.header("x-should-retry", String(shouldRetry));
  if (fault.retryable && shouldRetry !== false) context.header("retry-after", String(fault.details.retry_after ?? 1));
  if (status === 401) context.header("www-authenticate", "Bearer");
  return context.json({ error }, status as 400);
}

function typeOfStatus(status: number): string {
  if (status >= 500) return "server_error";
  if (status === 429) return "rate_limit_error";
  return status === 403 ? "permission_error" : "invalid_request_error";
}

const fieldOf = ({ path }: ValidationIssue) => path.split("/")[1] ?? "";
const paramOf = (issue: ValidationIssue) => (fieldOf(issue) ? (PARAMS[fieldOf(issue)] ?? fieldOf(issue)) : null);

function describe(fault: Fault, issues: ValidationIssue[]): string {
  const runId = typeof fault.details.run_id === "string" ? ` Run: ${fault.details.run_id}.` : "";
  if (fault.code === "model_not_found" && typeof fault.details.model === "string")
    return `The model ${fault.details.model} does not exist, or you have no access to it. GET /openai/v1/models lists the models.`;
  if (issues.length === 0) return `${fault.message}${runId}`;
  return issues.map((issue) => `${paramOf(issue) ?? "body"}: ${issue.message}`).join(" ");
}

/** Strict handling: a request with fields that have no effect is refused. */
export const unusedFieldsFault = (names: readonly string[]): Fault =>
  new Fault("unsupported_parameter", {
    errors: names.map((name) => ({
      path: `/${name}`,
      code: "unsupported_parameter",
      message: "Has no effect with this model. Remove it, or send the request without handling=strict.",
    })),
  });
