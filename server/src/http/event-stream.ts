// Server-sent events with back-pressure. Up to 512 KiB of unsent events are buffered per reader; a reader that falls
// behind is disconnected and resumes with Last-Event-ID.
import type { Context } from "hono";
import type { Authenticator, Credentials } from "../access/authentication.ts";
import type { RequestContext } from "../access/request-context.ts";
import type { EventFilter } from "../contract/schemas/events.ts";
import type { Caller } from "../db/access/caller.ts";
import type { LogPosition } from "../db/event-log.ts";
import type { RunRow } from "../db/runs/runs.ts";
import { readEventPage } from "../events/backlog.ts";
import type { StreamConnection } from "../events/event-streams.ts";
import { parseEventId } from "../events/sse-frames.ts";
import { Fault } from "../faults/faults.ts";
import type { AdmittedRequest } from "./admission.ts";
import type { HttpServices } from "./http-services.ts";
import type { HttpBindings } from "./read-request.ts";

/** Unsent bytes per reader, beyond the socket buffers of the operating system. */
const MAX_BUFFERED_BYTES = 512 * 1024;
const RETRY_SECONDS = 5;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Asks proxies not to buffer the response.
  "x-accel-buffering": "no",
};

/** True if text/event-stream is the first media type in the Accept header. */
export const acceptsEventStream = (context: Context): boolean =>
  /^\s*text\/event-stream\b/i.test(context.req.header("accept") ?? "");

/** True if the client does not accept text/event-stream: it gets one page of JSON instead of a stream. */
const acceptsOnlyJson = (context: Context): boolean =>
  !/text\/event-stream|text\/\*|\*\/\*/i.test(context.req.header("accept") ?? "*/*");

/** The header overrides the query field: a reconnecting browser repeats the old URL with a new header. */
export function readLastEventId(context: Context, field: unknown): LogPosition | undefined {
  const id = context.req.header("last-event-id") || field;
  return id === undefined ? undefined : parseEventId(String(id));
}

/** `run` is set if the stream is of one run and ends with it. */
type EventStreamQuery = { run?: RunRow; filter: EventFilter; after: LogPosition | undefined };

type StreamServices = Pick<HttpServices, "runs" | "progress" | "callers">;
type StreamCall = { context: Context<HttpBindings>; request: RequestContext; admitted: AdmittedRequest };

export async function respondWithEventStream(
  { runs, progress: { streams }, callers: { authenticator, findClientAddress } }: StreamServices,
  { context, request, admitted }: StreamCall,
  streamRequest: EventStreamQuery,
): Promise<Response> {
  const { caller, database } = request;
  const { tenant_id, expires_at } = caller;
  const query = { ...streamRequest, services: { ...runs, database }, tenant_id };
  context.header("vary", "Accept", { append: true });
  if (acceptsOnlyJson(context)) return context.json(await readEventPage(query));
  const releaseSlot = admitted.acquireStreamSlot();
  if (!releaseSlot) throw new Fault("rate_limited", { policy: "streams", retry_after: RETRY_SECONDS });
  try {
    const isStillValid = createCredentialRecheck(authenticator, caller, {
      headers: context.req.raw.headers,
      url: context.req.url,
      address: findClientAddress(context.env.incoming),
    });
    const stream = await streams.open({ ...query, expires_at, isStillValid });
    // A browser does not reconnect after 204.
    if (!stream) {
      releaseSlot();
      return context.body(null, 204);
    }
    const onClose = () => {
      releaseSlot();
      stream.unsubscribe();
    };
    const { body, connection } = createStreamWriter(() => context.env.incoming.socket.destroy(), onClose);
    stream.start(connection);
    // A compressing proxy would hold events back. The header replaces the one of all operations.
    context.header("cache-control", "no-store, no-transform");
    return context.body(body, 200, HEADERS);
  } catch (thrown) {
    releaseSlot();
    throw thrown;
  }
}

/** Faults after which it is unknown whether a credential is still valid. */
const UNDECIDED = ["dependency_unavailable", "rate_limited"];

/** Re-authenticates an open stream. If tenant, role or scopes changed, the stream ends and the client reconnects. */
function createCredentialRecheck(
  authenticator: Authenticator,
  caller: Caller,
  credentials: Credentials,
): () => Promise<boolean> {
  const rightsOf = ({ tenant_id, role, scopes }: Caller) => [tenant_id, role, ...scopes].join(" ");
  const rights = rightsOf(caller);
  return async () => {
    try {
      return rightsOf(await authenticator.authenticate(credentials)) === rights;
    } catch (thrown) {
      const isInvalid = thrown instanceof Fault && !UNDECIDED.includes(thrown.code);
      if (isInvalid) return false;
      throw thrown;
    }
  };
}

function createStreamWriter(
  destroy: () => void,
  onClose: () => void,
): { body: ReadableStream<Uint8Array>; connection: StreamConnection } {
  let isClosed = false;
  let wake = () => {};
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    wake();
    onClose();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (streamController) => {
        controller = streamController;
      },
      pull: () => wake(),
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED_BYTES }),
  );
  const hasCapacity = () => !isClosed && (controller.desiredSize ?? 0) > 0;
  const connection: StreamConnection = {
    hasCapacity,
    drained: () =>
      new Promise((resolve) => {
        if (isClosed || hasCapacity()) return resolve();
        wake = resolve;
      }),
    send: (bytes) => {
      if (!isClosed) controller.enqueue(bytes);
    },
    end: () => {
      if (isClosed) return;
      close();
      controller.close();
    },
    destroy: () => {
      if (isClosed) return;
      close();
      destroy();
    },
  };
  return { body, connection };
}
