// Streams of events. A stream that is lost is opened again after the last event that came: its reader sees each event once
// and knows nothing of the loss.
import type { Connection, Line } from "./connection.ts";
import { ConnectionError, GessoError } from "./errors.ts";
import type { Event } from "./generated/shapes.ts";
import type { Fields, Operation } from "./operation.ts";
import { prepare } from "./prepare.ts";
import { backoffMs, mayRetry, pause } from "./retry.ts";
import { aborted, send } from "./send.ts";
import type { CallOptions } from "./settings.ts";

/** An event of a stream. Give its `id` as `after`, and the stream goes on behind it. */
export type StreamedEvent = Event & { id: string };

/**
 * Events, as they happen. Ends with the run, where it is of one run; otherwise when you leave it or `signal` is aborted.
 * @example for await (const event of client.runs.events(runId)) console.log(event.type)
 */
export type EventStream = AsyncIterable<StreamedEvent>;

const OPEN_MS = 30_000;
/** The server says every 15 seconds that it is there. */
const SILENT_MS = 45_000;
/** In a row; a server that is away for minutes is waited for, one that never answered is not. */
const MOST_LOSSES = 20;

type Message = { id?: string; data?: string };

export const callStream =
  (connection: Connection, operation: Operation) =>
  (input: Fields = {}, options: CallOptions = {}): EventStream => ({
    [Symbol.asyncIterator]: () => follow(connection as Line, { operation, input, options }),
  });

/** `patienceMs` is for those who have another way: how long the first word may take. */
type Asked = { operation: Operation; input: Fields; options: CallOptions; patienceMs?: number };

export async function* follow(line: Line, asked: Asked): AsyncGenerator<StreamedEvent, undefined> {
  const { signal } = asked.options;
  const isOfRun = asked.operation.path.includes("{");
  let last = asked.input.after as string | undefined;
  let most = 0;
  for (let losses = 0; ; losses++) {
    let error = new ConnectionError("The stream of events ended before it began");
    try {
      const response = await openStream(line, { ...asked, last });
      if (response.status === 204) return;
      for await (const { id, data } of messagesOf(response, signal, most > 0 ? SILENT_MS : asked.patienceMs)) {
        most = MOST_LOSSES;
        losses = 0;
        last = id ?? last;
        if (data === undefined) continue;
        const event = JSON.parse(data) as Event;
        yield { ...event, id: last ?? "" };
        if (isOfRun && ENDS.test(event.type)) return;
      }
    } catch (thrown) {
      if (GessoError.isInstance(thrown) && !ConnectionError.isInstance(thrown) && !mayRetry(thrown)) throw thrown;
      error = thrown as ConnectionError;
    }
    if (!signal?.aborted && losses >= most) throw error;
    await pause(backoffMs(losses), signal);
    if (signal?.aborted) throw aborted(signal);
  }
}

const ENDS = /^run\.(completed|failed|canceled)$/;

async function openStream(
  { settings, credential, baseUrl }: Line,
  { operation, input, options, patienceMs, last }: Asked & { last: string | undefined },
): Promise<Response> {
  const none = () => Promise.reject(new GessoError("A stream takes no files"));
  const { validate } = settings;
  const { path, body } = await prepare({ operation, input, validate }, { upload: none, addressOf: none });
  return send(settings, credential, {
    method: "GET",
    url: baseUrl + path,
    headers: { accept: "text/event-stream", ...(last && { "last-event-id": last }), ...options.headers },
    body,
    timeoutMs: options.timeout ?? patienceMs ?? OPEN_MS,
    maxRetries: options.maxRetries ?? (patienceMs ? 0 : settings.maxRetries),
    signal: options.signal,
    isStream: true,
  });
}

/** What a stream says, until it ends, breaks, is silent for too long, or the signal comes. */
async function* messagesOf(response: Response, signal?: AbortSignal, silentMs = SILENT_MS): AsyncGenerator<Message> {
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
      timer = setTimeout(stop, SILENT_MS);
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop()!;
      for (const block of blocks) yield read(block);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

function read(block: string): Message {
  const message: Message = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^(id|data): ?([\s\S]*)$/.exec(line) ?? [];
    if (name === "id") message.id = value;
    if (name === "data") message.data = message.data === undefined ? value : `${message.data}\n${value}`;
  }
  return message;
}
