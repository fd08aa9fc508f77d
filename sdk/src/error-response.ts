// Converts an error response to an error of the matching class, with a message that says what to do.
import * as errors from "./errors.ts";

type Body = { message?: string; code?: string; details?: Record<string, unknown>; error?: Body };
type ErrorResponseInput = Pick<errors.ErrorFacts, "serverUrl" | "idempotencyKey"> & {
  response: Response;
  text: string;
};

const FAILED_RUN_CODES = /^(provider_|storage_failed$|run_timeout$|run_canceled$|content_refused$)/;

export function errorFromResponse({ response, text, ...request }: ErrorResponseInput): errors.GessoError {
  const body = parse(text);
  const { message, code, details } = body.error?.message ? body.error : body;
  const { status, headers } = response;
  const requestId = headers.get("x-request-id") ?? (details?.request_id as string | undefined) ?? undefined;
  const runId = headers.get("x-run-id") ?? undefined;
  const facts = { status, code, details, requestId, runId, headers, ...request };
  const summary = [message ?? response.statusText, ...formatFieldErrors(details)].filter(Boolean).join(" ");
  return new (errorClassFor(status, code, details))(
    `${status} ${summary}${formatErrorContext({ code, requestId })}`,
    facts,
  );
}

/** `(code: …, request: …)` */
export function formatErrorContext(facts: Record<string, string | undefined>): string {
  const known = Object.entries(facts).filter(([, value]) => value);
  const words = known.map(([name, value]) => `${name === "requestId" ? "request" : name}: ${value}`);
  return words.length > 0 ? ` (${words.join(", ")})` : "";
}

export const formatFieldErrors = (details: Record<string, unknown> | undefined): string[] =>
  ((Array.isArray(details?.errors) ? details.errors : []) as errors.FieldError[]).map(
    ({ path, message }) => `${path.slice(1) || "request"}: ${message}`,
  );

type ErrorClass = new (message: string, facts: errors.ErrorFacts) => errors.GessoError;

function errorClassFor(status: number, code = "", details: Record<string, unknown> = {}): ErrorClass {
  if (details.run_id && FAILED_RUN_CODES.test(code)) {
    return code === "run_canceled" ? errors.RunCanceledError : errors.RunFailedError;
  }
  if (code === "sync_timeout" || status === 408) return errors.TimeoutError;
  if (code.startsWith("idempotency_") && code !== "idempotency_key_invalid") return errors.ConflictError;
  if (status >= 500) return errors.ServerError;
  return BY_STATUS[status] ?? errors.GessoError;
}

const BY_STATUS: Record<number, ErrorClass> = {
  400: errors.ValidationError,
  401: errors.AuthError,
  402: errors.BudgetError,
  403: errors.PermissionError,
  404: errors.NotFoundError,
  409: errors.ConflictError,
  410: errors.NotFoundError,
  413: errors.ValidationError,
  415: errors.ValidationError,
  422: errors.ValidationError,
  429: errors.RateLimitError,
};

function parse(text: string): Body {
  try {
    const body = JSON.parse(text) as unknown;
    return body !== null && typeof body === "object" ? (body as Body) : {};
  } catch {
    return {};
  }
}
