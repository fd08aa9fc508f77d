// Sends one call: prepares the input, creates the idempotency key once, sends the request, and keeps what `.wait()` needs.
import { type Credential, createCredential } from "./credential.ts";
import { AbortedError } from "./errors.ts";
import { redact } from "./log.ts";
import type { Fields, Operation } from "./operation.ts";
import { type BodyKind, prepareRequest, type SourceResolver } from "./prepare-request.ts";
import { sendRequest } from "./send-request.ts";
import { type CallOptions, type ClientOptions, type ResolvedClientOptions, resolveClientOptions } from "./settings.ts";
import type { FileSource } from "./sources.ts";

const RESPONSE_TIMEOUT_MS = 60_000;
/** A call that waits for its result is answered within 55 seconds; the rest is for slow lines. */
const SYNC_RESULT_TIMEOUT_MS = 150_000;

/** Address, credential and habits of a client; groups of operations stand on it. Made by {@link connect}. */
export type Connection = { readonly baseUrl: string };

/** A connection as this package sees it. What callers hold shows none of it, so it may change. */
export type ConnectionInternals = Connection & {
  settings: ResolvedClientOptions;
  credential: Credential;
  startRequest(operation: Operation, input: Fields, options: CallOptions, kind?: BodyKind): PendingRequest;
};

/** One call under way. */
export type PendingRequest = {
  operation: Operation;
  baseUrl: string;
  idempotencyKey: string | undefined;
  /** The answer; the first who asks starts it, and it starts by itself a moment after the call. */
  response(): Promise<Response>;
  /** Before it has started: answer with the run instead of a picture, because somebody will wait for it. */
  requestRun(): void;
  /** Before it has started: never send it. */
  cancelBeforeSend(reason: AbortSignal): void;
  /** The same request with the same key, so it lands on the same run; answered with the run. */
  resend(): Promise<Response>;
};

/**
 * The part of a client that talks. With it, one group of operations can be had without the others:
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

function createPendingRequest(line: ConnectionInternals, request: OperationCall): PendingRequest {
  const { operation, options } = request;
  const { settings } = line;
  const editServer = options.edit_server_url?.replace(/\/+$/, "") ?? settings.edit_server_url;
  const baseUrl = (operation.name === "edit.maskImage" ? editServer : undefined) ?? settings.baseUrl;
  const idempotencyKey = operation.takesIdempotencyKey
    ? (options.idempotencyKey ?? `gesso-${crypto.randomUUID()}`)
    : undefined;
  const own = { ...request, baseUrl, idempotencyKey };
  let accept = operation.returnsBytes ? "image/*, application/json;q=0.5" : "application/json";
  let dropped: AbortSignal | undefined;
  let answer: Promise<Response> | undefined;
  const start = () => {
    answer ??= dropped
      ? Promise.reject(new AbortedError("The call was aborted before it was sent", { cause: dropped.reason }))
      : sendOperation(line, own, accept);
    return answer;
  };
  // A moment later, so that a `.wait()` on the same line is heard before anything is sent.
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
      dropped = signal;
    },
    resend: () => sendOperation(line, { ...own, options: { ...options, minimal: false } }, "application/json"),
  };
}

type OutgoingCall = OperationCall & { baseUrl: string; idempotencyKey: string | undefined };

async function sendOperation(line: ConnectionInternals, request: OutgoingCall, accept: string): Promise<Response> {
  const { settings, credential } = line;
  const { operation, input, options, kind, baseUrl, idempotencyKey } = request;
  settings.log.debug(`gesso: ${operation.name}`, redact(input));
  const { validate } = settings;
  const { onUpload } = options;
  const prepared = await prepareRequest(
    { operation, input, kind, validate, onUpload },
    createSourceResolver(line, options),
  );
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

const UPLOAD: Operation = {
  name: "images.upload",
  path: "/api/v1/upload",
  bodies: "form",
  takesIdempotencyKey: true,
  fields: { file: { is: "file" } },
};
export const GET_RUN: Operation = { name: "runs.get", method: "GET", path: "/api/v1/runs/{run_id}", fields: {} };

function createSourceResolver(line: ConnectionInternals, { signal, onUpload }: CallOptions): SourceResolver {
  const options = { ...(signal && { signal }), ...(onUpload && { onUpload }) };
  const ask = async <T>(operation: Operation, input: Fields): Promise<T> =>
    (await (await line.startRequest(operation, input, options).response()).json()) as T;
  return {
    upload: async (file: FileSource) => {
      const { data } = await ask<{ data: { image_url: string } }>(UPLOAD, { file });
      return data.image_url;
    },
    imageUrlOf: async (run_id) => String((await ask<{ image_url: string }>(GET_RUN, { run_id })).image_url),
  };
}
