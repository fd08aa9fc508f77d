// Server-sent events with back-pressure. Up to 512 KiB of unsent events are buffered per reader; a reader that falls behind is
// disconnected and resumes with Last-Event-ID.
import type { Context } from "hono";
import type { Authenticator } from "../access/authentication.ts";
import type { LogPosition } from "../db/event-log.ts";
import type { Caller, RunRow } from "../db/runs/runs.ts";
import { readEventPage } from "../events/event-page.ts";
import type { EventStreams, StreamConnection } from "../events/event-streams.ts";
import { parseEventId } from "../events/sse-frames.ts";
import { Fault } from "../faults.ts";
import type { EventFilter } from "../kit/schemas/events.ts";
import type { Services } from "../runs/services.ts";
import type { AdmittedRequest } from "./admission.ts";
import type { HttpBindings } from "./read-request.ts";

/** What waits for the reader, beyond what the system's own buffers hold. */
const MAX_BUFFERED_BYTES = 512 * 1024;
const RETRY_SECONDS = 5;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Proxies that gather answers before they pass them on are asked not to.
  "x-accel-buffering": "no",
};

/** A caller who wants events first of all; a list in which they are one of several is not enough. */
export const acceptsEventStream = (context: Context): boolean =>
  /^\s*text\/event-stream\b/i.test(context.req.header("accept") ?? "");

/** True if the client does not accept text/event-stream: it gets one page of JSON instead of a stream. */
const acceptsOnlyJson = (context: Context): boolean =>
  !/text\/event-stream|text\/\*|\*\/\*/i.test(context.req.header("accept") ?? "*/*");

/** The header goes before the field: a browser that reconnects repeats the old address with a new header. */
export function readLastEventId(context: Context, field: unknown): LogPosition | undefined {
  const id = context.req.header("last-event-id") || field;
  return id === undefined ? undefined : parseEventId(String(id));
}

/** `run` where the stream is of one run, and ends with it. */
export type EventStreamRequest = {
  streams: EventStreams;
  house: Services;
  caller: Caller;
  entry: AdmittedRequest;
  credentials: Authenticator;
  run?: RunRow;
  filter: EventFilter;
  after: LogPosition | undefined;
};

export async function respondWithEventStream(
  context: Context<HttpBindings>,
  asked: EventStreamRequest,
): Promise<Response> {
  context.header("vary", "Accept", { append: true });
  if (acceptsOnlyJson(context)) return context.json(await readEventPage({ ...asked, ...asked.caller }));
  const leavePlace = asked.entry.acquireStreamSlot();
  if (!leavePlace) throw new Fault("rate_limited", { policy: "streams", retry_after: RETRY_SECONDS });
  const { house, run, filter, after } = asked;
  const { tenant_id, expires_at } = asked.caller;
  try {
    const isWelcome = createCredentialRecheck(asked, context.req.raw.headers, context.req.url);
    const wish = { house, tenant_id, filter, after, expires_at, isWelcome, ...(run && { run }) };
    const stream = await asked.streams.open(wish);
    // A browser takes it as the end, and does not come back.
    if (!stream) {
      leavePlace();
      return context.body(null, 204);
    }
    const onGone = () => {
      leavePlace();
      stream.unsubscribe();
    };
    const { body, line } = createStreamWriter(() => context.env.incoming.socket.destroy(), onGone);
    stream.start(line);
    return context.body(body, 200, HEADERS);
  } catch (thrown) {
    leavePlace();
    throw thrown;
  }
}

/** Re-authenticates an open stream. If tenant, role or scopes changed, the stream ends and the client reconnects. */
function createCredentialRecheck(
  { credentials, caller }: EventStreamRequest,
  headers: Headers,
  url: string,
): () => Promise<boolean> {
  const rightsOf = ({ tenant_id, role, scopes }: Caller) => [tenant_id, role, ...scopes].join(" ");
  const rights = rightsOf(caller);
  return async () => {
    try {
      return rightsOf(await credentials.authenticate(headers, url)) === rights;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code !== "dependency_unavailable") return false;
      throw thrown;
    }
  };
}

function createStreamWriter(
  destroy: () => void,
  onGone: () => void,
): { body: ReadableStream<Uint8Array>; line: StreamConnection } {
  let isGone = false;
  let wake = () => {};
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const gone = () => {
    if (isGone) return;
    isGone = true;
    wake();
    onGone();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => {
        controller = own;
      },
      pull: () => wake(),
      cancel: gone,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED_BYTES }),
  );
  const hasRoom = () => !isGone && (controller.desiredSize ?? 0) > 0;
  const line: StreamConnection = {
    hasCapacity: hasRoom,
    drained: () =>
      new Promise((resolve) => {
        if (isGone || hasRoom()) return resolve();
        wake = resolve;
      }),
    send: (bytes) => {
      if (!isGone) controller.enqueue(bytes);
    },
    end: () => {
      if (isGone) return;
      gone();
      controller.close();
    },
    destroy: () => {
      if (isGone) return;
      gone();
      destroy();
    },
  };
  return { body, line };
}
