// Sends one call: prepares the input, creates the idempotency key once, sends the request, and keeps what `.wait()`
// needs.
import { type Credential, createCredential } from "./credential.ts";
import { AbortedError } from "./errors.ts";
import { redact } from "./log.ts";
import { type BodyKind, type Fields, hasBody, type Operation } from "./operation.ts";
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
  /** To the server that gets the request. */
  connection: ConnectionInternals;
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
  return connectTo(settings.baseUrl, settings, createCredential(settings));
}

function connectTo(baseUrl: string, settings: ResolvedClientOptions, credential: Credential): ConnectionInternals {
  const connection: ConnectionInternals = {
    baseUrl,
    settings,
    credential,
    startRequest: (operation, input, options, kind) =>
      createPendingRequest(connection, { operation, input, options, kind }),
  };
  return connection;
}

type OperationCall = { operation: Operation; input: Fields; options: CallOptions; kind: BodyKind | undefined };

function createPendingRequest(given: ConnectionInternals, request: OperationCall): PendingRequest {
  const { operation, options } = request;
  const { settings, credential } = given;
  const editServer = options.edit_server_url?.replace(/\/+$/, "") ?? settings.edit_server_url;
  const connection =
    editServer && operation.name === "edit.maskImage" ? connectTo(editServer, settings, credential) : given;
  const isCreating = !operation.method && hasBody(operation);
  const idempotencyKey = isCreating ? (options.idempotencyKey ?? `gesso-${crypto.randomUUID()}`) : undefined;
  const own = { ...request, idempotencyKey };
  let accept = operation.returnsBytes ? "image/*, application/json;q=0.5" : "application/json";
  let canceledBy: AbortSignal | undefined;
  let response: Promise<Response> | undefined;
  const start = () => {
    response ??= canceledBy
      ? Promise.reject(new AbortedError("The call was aborted before it was sent", { cause: canceledBy.reason }))
      : sendOperation(connection, own, accept);
    return response;
  };
  // One microtask later, so that a `.wait()` on the same statement takes effect before the request is sent.
  void Promise.resolve()
    .then(start)
    .catch(() => {});
  return {
    connection,
    idempotencyKey,
    response: () => Promise.resolve().then(start),
    requestRun: () => {
      accept = "application/json";
    },
    cancelBeforeSend: (signal) => {
      canceledBy = signal;
    },
    resend: () => sendOperation(connection, { ...own, options: { ...options, minimal: false } }, "application/json"),
  };
}

type OutgoingCall = OperationCall & { idempotencyKey: string | undefined };

async function sendOperation(
  connection: ConnectionInternals,
  request: OutgoingCall,
  accept: string,
): Promise<Response> {
  const { baseUrl, settings, credential, startRequest } = connection;
  const { operation, input, options, kind, idempotencyKey } = request;
  settings.log.debug(`gesso: ${operation.name}`, redact(input));
  const { validate } = settings;
  const { path, body, isOnce } = await prepareRequest({ operation, input, options, kind, validate, startRequest });
  const waits = input.sync ?? operation.isSyncByDefault;
  const prefer = [options.minimal && "return=minimal", options.strict && "handling=strict"].filter(Boolean).join(", ");
  return sendRequest(settings, credential, {
    method: operation.method ?? "POST",
    url: baseUrl + path,
    headers: {
      accept,
      ...(prefer && { prefer }),
      ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
      ...options.headers,
    },
    body,
    isOnce,
    idempotencyKey,
    isStream: operation.isStream,
    timeoutMs: options.timeout ?? settings.timeout ?? (waits ? SYNC_RESULT_TIMEOUT_MS : RESPONSE_TIMEOUT_MS),
    // PATCH requests are not retried: they have no idempotency key, so a lost response could apply the change twice.
    maxRetries: operation.method === "PATCH" ? 0 : (options.maxRetries ?? settings.maxRetries),
    signal: options.signal,
  });
}

export const GET_RUN: Operation = { name: "runs.get", method: "GET", path: "/api/v1/runs/{run_id}", fields: {} };
