// Calls a provider and classifies its failures. A paid request without a response has an unknown outcome and is never
// resubmitted blindly.
import type { z } from "zod";
import { Fault, type FaultCode } from "../faults/faults.ts";
import { isUnsentRequest } from "../runtime/unsent-request.ts";
import type { ProviderContext } from "./provider.ts";

/**
 * `busy`: not accepted, retry later. `refused`: not accepted, permanent. `over_limit`: not accepted, because the job
 * exceeds a limit of this offer; another offer can be asked. `unsent`: certainly no byte of the request was sent.
 * `failed`: the provider reported a failure. `unknown`: sent, outcome unknown. `gone`: the provider lost the job and
 * will never finish it, so it may be resubmitted.
 */
export type ProviderFailureKind = "busy" | "refused" | "over_limit" | "unsent" | "failed" | "unknown" | "gone";
export type ProviderFailure = {
  kind: ProviderFailureKind;
  status?: number;
  retryAfterSeconds?: number;
  cause?: unknown;
};

export const providerFault = (code: FaultCode, cause: ProviderFailure, details = {}) =>
  new Fault(code, details, { cause });

export const readProviderFailure = (thrown: unknown): ProviderFailure =>
  thrown instanceof Fault && (thrown.cause as ProviderFailure | undefined)?.kind
    ? (thrown.cause as ProviderFailure)
    : { kind: "unknown", cause: thrown };

type ProviderRequest<Reply> = {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** The only origin that receives credentials. URLs from responses are checked against it. */
  origin: string;
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON, except for a form or bytes. */
  body?: unknown;
  /** Schema of the response. It has only the fields that the adapter reads. */
  reply: z.ZodType<Reply>;
  /** A request that starts and costs nothing (an upload, a query): if its response is lost, nothing was submitted. */
  hasNoSideEffects?: boolean;
  /** Classifies errors that are specific to this provider. Undefined: use the general classification. */
  classify?: (status: number, body: string) => Fault | undefined;
};

/** The provider's content policy refused the job. It is never sent to another provider. */
export const contentRefused = (cause: unknown, details = {}) =>
  providerFault("content_refused", { kind: "refused", cause }, { by: "provider", ...details });
/** The provider accepted the job and reported a failure. */
export const jobFailed = (cause: unknown) => providerFault("provider_error", { kind: "failed", cause });
/** The parameters are invalid for any provider. */
export const inputRejected = (cause: unknown, details = {}) =>
  providerFault("provider_rejected_input", { kind: "refused", cause }, details);
/** This provider cannot serve the model, for example because of the key. Another offer can be tried. */
export const modelUnavailable = (cause: unknown, status?: number) =>
  providerFault("model_unavailable", { kind: "refused", cause, ...(status && { status }) });
export const providerBusy = (cause: unknown, retryAfterSeconds?: number, status?: number) =>
  providerFault("provider_error", {
    kind: "busy",
    cause,
    ...(status && { status }),
    ...(retryAfterSeconds && { retryAfterSeconds: Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS) }),
  });

/** A longer time is longer than a run may take, or a mistake of the provider. */
const MAX_RETRY_AFTER_SECONDS = 60 * 60;
const MIN_RETRY_AFTER_SECONDS = 1;
const HTTP_DATE = /^[A-Za-z]{3,9}, .+ GMT$/;

/** Reads both forms of Retry-After: seconds, and an HTTP date. Undefined if it is absent or neither. */
function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? "";
  const seconds = /^\d+$/.test(value) ? Number(value) : HTTP_DATE.test(value) ? (Date.parse(value) - now) / 1000 : NaN;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, MIN_RETRY_AFTER_SECONDS);
}

export async function callProvider<Reply>(
  context: ProviderContext<unknown>,
  request: ProviderRequest<Reply>,
): Promise<Reply> {
  if (new URL(request.url).origin !== new URL(request.origin).origin) {
    throw providerFault("provider_error", {
      kind: "refused",
      cause: new Error("a response pointed to another origin"),
    });
  }
  try {
    const { status, header, text: body } = await send(context, request);
    if (status >= 200 && status < 300) return read(request.reply, body, status);
    throw (
      request.classify?.(status, body) ??
      classifyStatus(status, parseRetryAfter(header("retry-after"), context.now()), body)
    );
  } catch (thrown) {
    const { kind, ...cause } = readProviderFailure(thrown);
    if (request.hasNoSideEffects && kind === "unknown")
      throw providerFault("provider_error", { ...cause, kind: "unsent" });
    throw thrown;
  }
}

async function send(context: ProviderContext<unknown>, request: ProviderRequest<unknown>) {
  const { body } = request;
  const isRaw = body === undefined || body instanceof FormData || body instanceof Uint8Array;
  try {
    return await context.send(request.url, {
      method: request.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        accept: "application/json",
        ...(!isRaw && { "content-type": "application/json" }),
        ...request.headers,
      },
      body: isRaw ? (body as FormData | Uint8Array | undefined) : JSON.stringify(body),
    });
  } catch (thrown) {
    // The context refused to send, and says so itself.
    if (thrown instanceof Fault) throw thrown;
    throw providerFault("provider_error", { kind: isUnsentRequest(thrown) ? "unsent" : "unknown", cause: thrown });
  }
}

function read<Reply>(reply: z.ZodType<Reply>, body: string, status: number): Reply {
  try {
    return reply.parse(body === "" ? undefined : JSON.parse(body));
  } catch (thrown) {
    // An unreadable 2xx response may have started a job.
    throw providerFault("provider_error", { kind: "unknown", status, cause: thrown });
  }
}

function classifyStatus(status: number, retryAfterSeconds: number | undefined, body: string): Fault {
  const cause = body.slice(0, 500);
  // A 503 without Retry-After can come from a proxy after the provider accepted the job, so it does not count as busy.
  if (status === 429 || (status === 503 && retryAfterSeconds !== undefined))
    return providerBusy(cause, retryAfterSeconds, status);
  // Caused by our key, credit or upstream model, not by the caller's request.
  if ([401, 402, 403, 404].includes(status)) return modelUnavailable(cause, status);
  if (status >= 400 && status < 500)
    return providerFault("provider_rejected_input", { kind: "refused", status, cause });
  return providerFault("provider_error", { kind: "unknown", status, cause });
}
