// Sends one request with a timeout per attempt and retries with backoff. Returns a successful response or throws a
// GessoError.
import type { Credential } from "./credential.ts";
import { errorFromResponse, formatErrorContext } from "./error-response.ts";
import { AbortedError, ConnectionError, GessoError, TimeoutError } from "./errors.ts";
import { redactUrl } from "./log.ts";
import type { RequestBody } from "./operation.ts";
import { backoffMs, isRetryable, retryAfterMs, sleep } from "./retry.ts";
import type { ResolvedClientOptions } from "./settings.ts";

export type OutgoingRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: RequestBody["body"];
  isOnce?: boolean;
  idempotencyKey?: string | undefined;
  timeoutMs: number;
  maxRetries: number;
  signal?: AbortSignal | undefined;
  /** Returns the response before its body is complete. */
  isStream?: boolean | undefined;
};

export async function sendRequest(
  settings: ResolvedClientOptions,
  credential: Credential,
  request: OutgoingRequest,
): Promise<Response> {
  const { signal, idempotencyKey } = request;
  const retries = request.isOnce ? 0 : request.maxRetries;
  let hasNewToken = false;
  for (let retry = 0; ; ) {
    const outcome = await attempt(settings, credential, request).catch((thrown: unknown) => thrown);
    if (signal?.aborted) throw abortedError(signal, idempotencyKey);
    if (outcome instanceof Response && outcome.status < 400) return outcome;
    const error = await toGessoError(outcome, request);
    if (error.status === 401 && !hasNewToken && !request.isOnce && credential.discardToken()) {
      hasNewToken = true;
      continue;
    }
    const isConnectionLost = error.status === undefined && ConnectionError.isInstance(error);
    if (retry >= retries || !(isConnectionLost || isRetryable(error))) throw error;
    const ms = (error.headers && retryAfterMs(error.headers)) ?? backoffMs(retry);
    retry += 1;
    settings.log.info(`gesso: ${error.message}; retrying in ${Math.round(ms)} ms (${retry} of ${retries})`);
    await sleep(ms, signal);
    if (signal?.aborted) throw abortedError(signal, idempotencyKey);
  }
}

async function attempt(
  settings: ResolvedClientOptions,
  credential: Credential,
  request: OutgoingRequest,
): Promise<Response> {
  const { method, url, timeoutMs, signal } = request;
  const { body, headers } = (await request.body?.()) ?? {};
  const own = await credential.header();
  const limit = new AbortController();
  const stop = () => limit.abort(signal?.reason);
  const timer = setTimeout(() => limit.abort(new TimeoutError(`No response within ${timeoutMs} ms`)), timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  const startedAt = Date.now();
  try {
    const init: RequestInit & { duplex?: "half" } = { method, signal: limit.signal };
    init.headers = { ...settings.headers, ...own, ...headers, ...request.headers };
    if (body !== undefined) init.body = body;
    if (body instanceof ReadableStream) init.duplex = "half";
    const response = await settings.fetch(url, init);
    if (request.isStream && response.ok) return response;
    // The whole body is read here, so that a truncated response counts as a lost connection.
    const bytes = await response.arrayBuffer();
    const requestId = response.headers.get("x-request-id");
    settings.log.debug(`gesso: ${method} ${redactUrl(url)} ${response.status} in ${Date.now() - startedAt} ms`, {
      requestId,
    });
    const { status, statusText } = response;
    return new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers: response.headers });
  } catch (thrown) {
    settings.log.debug(`gesso: ${method} ${redactUrl(url)} failed: ${(thrown as Error).message}`);
    throw limit.signal.reason instanceof TimeoutError ? limit.signal.reason : thrown;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

async function toGessoError(outcome: unknown, { url, idempotencyKey }: OutgoingRequest): Promise<GessoError> {
  if (outcome instanceof Response) {
    const text = await outcome.text().catch(() => "");
    return errorFromResponse({ response: outcome, text, idempotencyKey, serverUrl: url });
  }
  if (outcome instanceof TimeoutError) return new TimeoutError(`${outcome.message} from ${url}`, { idempotencyKey });
  // Errors of the caller's own functions (getToken, an unreadable source) are not connection errors.
  if (outcome instanceof GessoError) return outcome;
  const { message, cause } = outcome as Error;
  const reason = (cause as Error | undefined)?.message;
  const text = `No response from ${url}: ${message}${reason ? `, ${reason}` : ""}`;
  return new ConnectionError(`${text}${formatErrorContext({ idempotencyKey })}`, { cause: outcome, idempotencyKey });
}

export const abortedError = (signal: AbortSignal, idempotencyKey?: string, runId?: string): AbortedError =>
  new AbortedError("The call was aborted", { cause: signal.reason, idempotencyKey, runId });
