// Answers that are streams of events. What a reader has not taken yet is held up to a bound, and no further: one that does
// not read is cut off, and comes back with the id of the last event that it has.
import type { Context } from "hono";
import type { Credentials } from "../access/credentials.ts";
import type { Position } from "../db/events.ts";
import type { Caller, RunRow } from "../db/runs.ts";
import { readId } from "../events/frames.ts";
import { pageOf } from "../events/page.ts";
import type { Line, Streams } from "../events/streams.ts";
import { Fault } from "../faults.ts";
import type { EventFilter } from "../kit/shapes-events.ts";
import type { House } from "../runs/house.ts";
import type { Entry } from "./admission.ts";
import type { Bindings } from "./read.ts";

/** What waits for the reader, beyond what the system's own buffers hold. */
const ROOM_BYTES = 512 * 1024;
const RETRY_SECONDS = 5;

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  // Proxies that gather answers before they pass them on are asked not to.
  "x-accel-buffering": "no",
};

/** A caller who wants events first of all; a list in which they are one of several is not enough. */
export const wantsEvents = (context: Context): boolean =>
  /^\s*text\/event-stream\b/i.test(context.req.header("accept") ?? "");

/** Who does not take streams gets what there is, and not an answer without an end. */
const wantsPage = (context: Context): boolean =>
  !/text\/event-stream|text\/\*|\*\/\*/i.test(context.req.header("accept") ?? "*/*");

/** The header goes before the field: a browser that reconnects repeats the old address with a new header. */
export function readAfter(context: Context, field: unknown): Position | undefined {
  const id = context.req.header("last-event-id") || field;
  return id === undefined ? undefined : readId(String(id));
}

/** `run` where the stream is of one run, and ends with it. */
export type Asked = {
  streams: Streams;
  house: House;
  caller: Caller;
  entry: Entry;
  credentials: Credentials;
  run?: RunRow;
  filter: EventFilter;
  after: Position | undefined;
};

export async function answerEvents(context: Context<Bindings>, asked: Asked): Promise<Response> {
  context.header("vary", "Accept", { append: true });
  if (wantsPage(context)) return context.json(await pageOf({ ...asked, ...asked.caller }));
  const leavePlace = asked.entry.mayStream();
  if (!leavePlace) throw new Fault("rate_limited", { policy: "streams", retry_after: RETRY_SECONDS });
  const { house, run, filter, after } = asked;
  const { tenant_id, expires_at } = asked.caller;
  try {
    const isWelcome = stillWelcome(asked, context.req.raw.headers, context.req.url);
    const wish = { house, tenant_id, filter, after, expires_at, isWelcome, ...(run && { run }) };
    const stream = await asked.streams.open(wish);
    // A browser takes it as the end, and does not come back.
    if (!stream) {
      leavePlace();
      return context.body(null, 204);
    }
    const onGone = () => {
      leavePlace();
      stream.leave();
    };
    const { body, line } = openLine(() => context.env.incoming.socket.destroy(), onGone);
    stream.start(line);
    return context.body(body, 200, HEADERS);
  } catch (thrown) {
    leavePlace();
    throw thrown;
  }
}

/** A credential that may less or more than at the beginning is judged anew, when its reader comes back. */
function stillWelcome({ credentials, caller }: Asked, headers: Headers, url: string): () => Promise<boolean> {
  const rightsOf = ({ tenant_id, role, scopes }: Caller) => [tenant_id, role, ...scopes].join(" ");
  const rights = rightsOf(caller);
  return async () => {
    try {
      return rightsOf(await credentials.callerOf(headers, url)) === rights;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code !== "dependency_unavailable") return false;
      throw thrown;
    }
  };
}

function openLine(destroy: () => void, onGone: () => void): { body: ReadableStream<Uint8Array>; line: Line } {
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
    new ByteLengthQueuingStrategy({ highWaterMark: ROOM_BYTES }),
  );
  const hasRoom = () => !isGone && (controller.desiredSize ?? 0) > 0;
  const line: Line = {
    hasRoom,
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
    cut: () => {
      if (isGone) return;
      gone();
      destroy();
    },
  };
  return { body, line };
}
