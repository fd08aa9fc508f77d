// The one way from a call to an answer: prepares the input, mints the key once, sends, and remembers what a waiter needs.
import { type Credential, credentialOf } from "./credential.ts";
import { AbortedError } from "./errors.ts";
import { shown } from "./log.ts";
import type { Fields, Operation } from "./operation.ts";
import { type Errands, type Kind, prepare } from "./prepare.ts";
import { send } from "./send.ts";
import { type CallOptions, type ClientOptions, type Settings, settingsOf } from "./settings.ts";
import type { FileSource } from "./sources.ts";

const ANSWER_MS = 60_000;
/** A call that waits for its result is answered within 55 seconds; the rest is for slow lines. */
const RESULT_MS = 150_000;

/** Address, credential and habits of a client; groups of operations stand on it. Made by {@link connect}. */
export type Connection = { readonly baseUrl: string };

/** A connection as this package sees it. What callers hold shows none of it, so it may change. */
export type Line = Connection & {
  settings: Settings;
  credential: Credential;
  exchange(operation: Operation, input: Fields, options: CallOptions, kind?: Kind): Exchange;
};

/** One call under way. */
export type Exchange = {
  operation: Operation;
  baseUrl: string;
  idempotencyKey: string | undefined;
  /** The answer; the first who asks starts it, and it starts by itself a moment after the call. */
  answer(): Promise<Response>;
  /** Before it has started: answer with the run instead of a picture, because somebody will wait for it. */
  expectRun(): void;
  /** Before it has started: never send it. */
  drop(reason: AbortSignal): void;
  /** The same request with the same key, so it lands on the same run; answered with the run. */
  again(): Promise<Response>;
};

/**
 * The part of a client that talks. With it, one group of operations can be had without the others:
 * @example const runs = runsOf(connect({ baseUrl, apiKey }))
 */
export function connect(options: ClientOptions = {}): Connection {
  const settings = settingsOf(options);
  const line: Line = {
    baseUrl: settings.baseUrl,
    settings,
    credential: credentialOf(settings),
    exchange: (operation, input, own, kind) => open(line, { operation, input, options: own, kind }),
  };
  return line;
}

type Request = { operation: Operation; input: Fields; options: CallOptions; kind: Kind | undefined };

function open(line: Line, request: Request): Exchange {
  const { operation, options } = request;
  const { settings } = line;
  const editServer = options.edit_server_url?.replace(/\/+$/, "") ?? settings.edit_server_url;
  const baseUrl = (operation.name === "edit.maskImage" ? editServer : undefined) ?? settings.baseUrl;
  const idempotencyKey = operation.creates ? (options.idempotencyKey ?? `gesso-${crypto.randomUUID()}`) : undefined;
  const own = { ...request, baseUrl, idempotencyKey };
  let accept = operation.binary ? "image/*, application/json;q=0.5" : "application/json";
  let dropped: AbortSignal | undefined;
  let answer: Promise<Response> | undefined;
  const start = () => {
    answer ??= dropped
      ? Promise.reject(new AbortedError("The call was aborted before it was sent", { cause: dropped.reason }))
      : perform(line, own, accept);
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
    answer: () => Promise.resolve().then(start),
    expectRun: () => {
      accept = "application/json";
    },
    drop: (signal) => {
      dropped = signal;
    },
    again: () => perform(line, { ...own, options: { ...options, minimal: false } }, "application/json"),
  };
}

type Own = Request & { baseUrl: string; idempotencyKey: string | undefined };

async function perform(line: Line, request: Own, accept: string): Promise<Response> {
  const { settings, credential } = line;
  const { operation, input, options, kind, baseUrl, idempotencyKey } = request;
  settings.log.debug(`gesso: ${operation.name}`, shown(input));
  const { validate } = settings;
  const { onUpload } = options;
  const prepared = await prepare({ operation, input, kind, validate, onUpload }, errandsOf(line, options));
  const waits = input.sync === true || (operation.waits === true && input.sync !== false);
  const prefer = [options.minimal && "return=minimal", options.strict && "handling=strict"].filter(Boolean).join(", ");
  return send(settings, credential, {
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
    timeoutMs: options.timeout ?? settings.timeout ?? (waits ? RESULT_MS : ANSWER_MS),
    // A change that was made but not answered must not be made twice, and it has no key to tell.
    maxRetries: operation.method === "PATCH" ? 0 : (options.maxRetries ?? settings.maxRetries),
    signal: options.signal,
  });
}

const UPLOAD: Operation = {
  name: "images.upload",
  path: "/api/v1/upload",
  bodies: "form",
  creates: true,
  fields: { file: { is: "file" } },
};
export const GET_RUN: Operation = { name: "runs.get", method: "GET", path: "/api/v1/runs/{run_id}", fields: {} };

function errandsOf(line: Line, { signal, onUpload }: CallOptions): Errands {
  const options = { ...(signal && { signal }), ...(onUpload && { onUpload }) };
  const ask = async <T>(operation: Operation, input: Fields): Promise<T> =>
    (await (await line.exchange(operation, input, options).answer()).json()) as T;
  return {
    upload: async (file: FileSource) => {
      const { data } = await ask<{ data: { image_url: string } }>(UPLOAD, { file });
      return data.image_url;
    },
    addressOf: async (run_id) => String((await ask<{ image_url: string }>(GET_RUN, { run_id })).image_url),
  };
}
