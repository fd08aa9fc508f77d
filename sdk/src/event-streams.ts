// Streams of events. A stream that is lost is opened again after the last event that came: its reader sees each event once
// and knows nothing of the loss.
import type { Connection, ConnectionInternals } from "./connection.ts";
import { ConnectionError, GessoError } from "./errors.ts";
import type { Event } from "./generated/shapes.ts";
import type { Fields, Operation } from "./operation.ts";
import { prepareRequest } from "./prepare-request.ts";
import { backoffMs, isRetryable, sleep } from "./retry.ts";
import { abortedError, sendRequest } from "./send-request.ts";
import type { CallOptions } from "./settings.ts";

/** An event of a stream. Give its `id` as `after`, and the stream goes on behind it. */
export type StreamedEvent = Event & { id: string };

/**
 * Events, as they happen. Ends with the run, where it is of one run; otherwise when you leave it or `signal` is aborted.
 * @example for await (const event of client.runs.events(runId)) console.log(event.type)
 */
export type EventStream = AsyncIterable<StreamedEvent>;

const CONNECT_TIMEOUT_MS = 30_000;
/** The server says every 15 seconds that it is there. */
const IDLE_TIMEOUT_MS = 45_000;
/** In a row; a server that is away for minutes is waited for, one that never answered is not. */
const MAX_RECONNECTS = 20;

type SseMessage = { id?: string; data?: string };

export const callStream =
  (connection: Connection, operation: Operation) =>
  (input: Fields = {}, options: CallOptions = {}): EventStream => ({
    [Symbol.asyncIterator]: () => followEvents(connection as ConnectionInternals, { operation, input, options }),
  });

/** `patienceMs` is for those who have another way: how long the first word may take. */
type EventStreamRequest = { operation: Operation; input: Fields; options: CallOptions; patienceMs?: number };

export async function* followEvents(
  internals: ConnectionInternals,
  asked: EventStreamRequest,
): AsyncGenerator<StreamedEvent, undefined> {
  const { signal } = asked.options;
  const isOfRun = asked.operation.path.includes("{");
  let last = asked.input.after as string | undefined;
  let most = 0;
  for (let losses = 0; ; losses++) {
    let error = new ConnectionError("The event stream closed before the first event");
    try {
      const response = await openStream(internals, { ...asked, last });
      if (response.status === 204) return;
      for await (const { id, data } of readSseMessages(
        response,
        signal,
        most > 0 ? IDLE_TIMEOUT_MS : asked.patienceMs,
      )) {
        most = MAX_RECONNECTS;
        losses = 0;
        last = id ?? last;
        if (data === undefined) continue;
        const event = JSON.parse(data) as Event;
        yield { ...event, id: last ?? "" };
        if (isOfRun && RUN_END_EVENTS.test(event.type)) return;
      }
    } catch (thrown) {
      if (GessoError.isInstance(thrown) && !ConnectionError.isInstance(thrown) && !isRetryable(thrown)) throw thrown;
      error = thrown as ConnectionError;
    }
    if (!signal?.aborted && losses >= most) throw error;
    await sleep(backoffMs(losses), signal);
    if (signal?.aborted) throw abortedError(signal);
  }
}

const RUN_END_EVENTS = /^run\.(completed|failed|canceled)$/;

async function openStream(
  { settings, credential, baseUrl }: ConnectionInternals,
  { operation, input, options, patienceMs, last }: EventStreamRequest & { last: string | undefined },
): Promise<Response> {
  const none = () => Promise.reject(new GessoError("A stream takes no files"));
  const { validate } = settings;
  const { path, body } = await prepareRequest({ operation, input, validate }, { upload: none, imageUrlOf: none });
  return sendRequest(settings, credential, {
    method: "GET",
    url: baseUrl + path,
    headers: { accept: "text/event-stream", ...(last && { "last-event-id": last }), ...options.headers },
    body,
    timeoutMs: options.timeout ?? patienceMs ?? CONNECT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? (patienceMs ? 0 : settings.maxRetries),
    signal: options.signal,
    isStream: true,
  });
}

/** What a stream says, until it ends, breaks, is silent for too long, or the signal comes. */
async function* readSseMessages(
  response: Response,
  signal?: AbortSignal,
  silentMs = IDLE_TIMEOUT_MS,
): AsyncGenerator<SseMessage> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  let timer = setTimeout(stop, silentMs);
  try {
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done || signal?.aborted) return;
      clearTimeout(timer);
      timer = setTimeout(stop, IDLE_TIMEOUT_MS);
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop()!;
      for (const block of blocks) yield parseSseBlock(block);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

function parseSseBlock(block: string): SseMessage {
  const message: SseMessage = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^(id|data): ?([\s\S]*)$/.exec(line) ?? [];
    if (name === "id") message.id = value;
    if (name === "data") message.data = message.data === undefined ? value : `${message.data}\n${value}`;
  }
  return message;
}
