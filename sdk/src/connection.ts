// Sends one call: prepares the input, creates the idempotency key once, sends the request, and keeps what `.wait()`
// needs.
import { type Credential, createCredential } from "./credential.ts";
import { AbortedError } from "./errors.ts";
import { redact } from "./log.ts";
import type { BodyKind, Fields, Operation } from "./operation.ts";
import { prepareRequest } from "./prepare-request.ts";
import { sendRequest } from "./send-request.ts";
import { type CallOptions, type ClientOptions, type ResolvedClientOptions, resolveClientOptions } from "./settings.ts";

const RESPONSE_TIMEOUT_MS = 60_000;
/** A synchronous call is answered within 55 s; the rest is for slow connections. */
const SYNC_RESULT_TIMEOUT_MS = 150_000;

/** Server URL, credential and options, shared by all groups of operations. Created by {@link connect}. */
export type Connection = { readonly baseUrl: string };

/** The internal view of a connection. It is not part of the public API. */
export type ConnectionInternals = Connection & {
  settings: ResolvedClientOptions;
  credential: Credential;
  startRequest(operation: Operation, input: Fields, options: CallOptions, kind?: BodyKind): PendingRequest;
};

/** A call that may not have been sent yet. */
export type PendingRequest = {
  operation: Operation;
  baseUrl: string;
  idempotencyKey: string | undefined;
  /** The response. The first caller starts the request; it also starts by itself one microtask after the call. */
  response(): Promise<Response>;
  /** Before it is sent: requests the run instead of the image, because the caller waits for the run. */
  requestRun(): void;
  /** Before it is sent: prevents sending. */
  cancelBeforeSend(reason: AbortSignal): void;
  /** Sends the request again with the same idempotency key; the response is the run. */
  resend(): Promise<Response>;
};

/**
 * Creates a connection. Use it to load one group of operations without the others:
 * @example const runs = runsOf(connect({ baseUrl, apiKey }))
 */
export function connect(options: ClientOptions = {}): Connection {
  const settings = resolveClientOptions(options);
  const internals: ConnectionInternals = {
    baseUrl: settings.baseUrl,
    settings,
    credential: createCredential(settings),
    startRequest: (operation, input, own, kind) =>
      createPendingRequest(internals, { operation, input, options: own, kind }),
  };
  return internals;
}

type OperationCall = { operation: Operation; input: Fields; options: CallOptions; kind: BodyKind | undefined };

function createPendingRequest(internals: ConnectionInternals, request: OperationCall): PendingRequest {
  const { operation, options } = request;
  const { settings } = internals;
  const editServer = options.edit_server_url?.replace(/\/+$/, "") ?? settings.edit_server_url;
  const baseUrl = (operation.name === "edit.maskImage" ? editServer : undefined) ?? settings.baseUrl;
  const idempotencyKey = operation.takesIdempotencyKey
    ? (options.idempotencyKey ?? `gesso-${crypto.randomUUID()}`)
    : undefined;
  const own = { ...request, baseUrl, idempotencyKey };
  let accept = operation.returnsBytes ? "image/*, application/json;q=0.5" : "application/json";
  let canceledBy: AbortSignal | undefined;
  let response: Promise<Response> | undefined;
  const start = () => {
    response ??= canceledBy
      ? Promise.reject(new AbortedError("The call was aborted before it was sent", { cause: canceledBy.reason }))
      : sendOperation(internals, own, accept);
    return response;
  };
  // One microtask later, so that a `.wait()` on the same statement takes effect before the request is sent.
  void Promise.resolve()
    .then(start)
    .catch(() => {});
  return {
    operation,
    baseUrl,
    idempotencyKey,
    response: () => Promise.resolve().then(start),
    requestRun: () => {
      accept = "application/json";
    },
    cancelBeforeSend: (signal) => {
      canceledBy = signal;
    },
    resend: () => sendOperation(internals, { ...own, options: { ...options, minimal: false } }, "application/json"),
  };
}

type OutgoingCall = OperationCall & { baseUrl: string; idempotencyKey: string | undefined };

async function sendOperation(internals: ConnectionInternals, request: OutgoingCall, accept: string): Promise<Response> {
  const { settings, credential } = internals;
  const { operation, input, options, kind, baseUrl, idempotencyKey } = request;
  settings.log.debug(`gesso: ${operation.name}`, redact(input));
  const { validate } = settings;
  const { startRequest } = internals;
  const prepared = await prepareRequest({ operation, input, options, kind, validate, startRequest });
  const waits = input.sync === true || (operation.isSyncByDefault === true && input.sync !== false);
  const prefer = [options.minimal && "return=minimal", options.strict && "handling=strict"].filter(Boolean).join(", ");
  return sendRequest(settings, credential, {
    method: operation.method ?? "POST",
    url: baseUrl + prepared.path,
    headers: {
      accept,
      ...(prefer && { prefer }),
      ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
      ...options.headers,
    },
    body: prepared.body,
    isOnce: prepared.isOnce,
    idempotencyKey,
    timeoutMs: options.timeout ?? settings.timeout ?? (waits ? SYNC_RESULT_TIMEOUT_MS : RESPONSE_TIMEOUT_MS),
    // PATCH requests are not retried: they have no idempotency key, so a lost response could apply the change twice.
    maxRetries: operation.method === "PATCH" ? 0 : (options.maxRetries ?? settings.maxRetries),
    signal: options.signal,
  });
}

export const GET_RUN: Operation = { name: "runs.get", method: "GET", path: "/api/v1/runs/{run_id}", fields: {} };
