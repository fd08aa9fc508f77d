// Event streams (SSE). A lost stream is reopened after the last received event, so the reader gets each event once.
import type { Connection, ConnectionInternals } from "./connection.ts";
import { ConnectionError, GessoError } from "./errors.ts";
import type { Event } from "./generated/shapes.ts";
import type { Fields, Operation } from "./operation.ts";
import { backoffMs, isRetryable, sleep } from "./retry.ts";
import { abortedError } from "./send-request.ts";
import type { CallOptions } from "./settings.ts";

/** An event of a stream. Pass its `id` as `after` to continue the stream from there. */
export type StreamedEvent<Message extends Event = Event> = Message & { id: string };

/**
 * Live events. The stream of a run ends with the run; others end when you leave the loop or abort `signal`.
 * @example for await (const event of client.runs.events(runId)) console.log(event.type)
 */
export type EventStream<Message extends Event = Event> = AsyncIterable<StreamedEvent<Message>>;

const CONNECT_TIMEOUT_MS = 30_000;
/** The server sends a heartbeat every 15 s. */
const IDLE_TIMEOUT_MS = 45_000;
/** Consecutive reconnects; zero until the first event, so an unreachable server fails at once. */
const MAX_RECONNECTS = 20;

type SseMessage = { id?: string; data?: string };

export const callStream =
  (connection: Connection, operation: Operation) =>
  (input: Fields = {}, options: CallOptions = {}): EventStream => ({
    [Symbol.asyncIterator]: () => followEvents(connection as ConnectionInternals, { operation, input, options }),
  });

/** `firstEventTimeoutMs`: for callers that fall back to polling if the stream stays silent. */
type EventStreamRequest = { operation: Operation; input: Fields; options: CallOptions; firstEventTimeoutMs?: number };

export async function* followEvents(
  internals: ConnectionInternals,
  asked: EventStreamRequest,
): AsyncGenerator<StreamedEvent, undefined> {
  const { signal } = asked.options;
  const isOfRun = asked.operation.path.includes("{");
  let { input } = asked;
  let last = input.after as string | undefined;
  let most = 0;
  for (let losses = 0; ; losses++) {
    let error = new ConnectionError("The event stream closed before the first event");
    try {
      const response = await openStream(internals, { ...asked, input, last });
      if (response.status === 204) return;
      for await (const { id, data } of readSseMessages(
        response,
        signal,
        most > 0 ? IDLE_TIMEOUT_MS : asked.firstEventTimeoutMs,
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
      // The log was restored to an earlier time. All events of one run can be read again; of a tenant, only the reader
      // knows what it must read again.
      if (isOfRun && last && GessoError.isInstance(thrown) && thrown.code === "event_position_lost") {
        last = undefined;
        input = { ...input, after: undefined };
        continue;
      }
      if (GessoError.isInstance(thrown) && !ConnectionError.isInstance(thrown) && !isRetryable(thrown)) throw thrown;
      error = thrown as ConnectionError;
    }
    if (!signal?.aborted && losses >= most) throw error;
    await sleep(backoffMs(losses), signal);
    if (signal?.aborted) throw abortedError(signal);
  }
}

const RUN_END_EVENTS = /^run\.(completed|failed|canceled)$/;

function openStream(
  { settings, startRequest }: ConnectionInternals,
  { operation, input, options, firstEventTimeoutMs, last }: EventStreamRequest & { last: string | undefined },
): Promise<Response> {
  const headers = { accept: "text/event-stream", ...(last && { "last-event-id": last }), ...options.headers };
  const timeout = options.timeout ?? firstEventTimeoutMs ?? CONNECT_TIMEOUT_MS;
  const maxRetries = options.maxRetries ?? (firstEventTimeoutMs ? 0 : settings.maxRetries);
  const own = { ...options, headers, timeout, maxRetries };
  return startRequest({ ...operation, isStream: true }, input, own).response();
}

/** Reads messages until the stream ends, breaks, is idle for too long, or the signal aborts. */
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
