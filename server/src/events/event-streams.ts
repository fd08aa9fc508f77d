// Streams of events that callers hold open. Each is told what has been and then what comes, in the order of the log and
// nothing twice. One that does not read what it is sent is cut: it comes back with the id that it has, and misses nothing.
import { z } from "zod";
import { type EventRow, isPositionAfter, type LogPosition } from "../db/event-log.ts";
import type { Services } from "../runs/services.ts";
import { clampToLogHead, type EventQuery, matchesFilter, readBacklog } from "./backlog.ts";
import { createLogTail, type RenderedEvent, renderEvents } from "./log-tail.ts";
import { eventFrame, heartbeatFrame, retryFrame } from "./sse-frames.ts";

export const EventStreamsEnv = z.object({
  STREAM_HEARTBEAT_SECONDS: z.coerce
    .number()
    .min(0.1)
    .default(15)
    .describe("Interval of heartbeats on an event stream, in seconds"),
  STREAM_SECONDS: z.coerce
    .number()
    .min(1)
    .default(600)
    .describe("Maximum duration of an event stream, in seconds; clients reconnect with Last-Event-ID and miss nothing"),
});

/** The line to the reader. */
export type StreamConnection = {
  hasCapacity(): boolean;
  /** Resolves when there is room again, or the line is gone. */
  drained(): Promise<void>;
  send(bytes: Uint8Array): void;
  end(): void;
  /** The reader is too slow: the line goes, with whatever is still on it. */
  destroy(): void;
};

/** Whose stream it is: when their credential ends by itself, and whether it would still be let in as what it was. */
export type StreamCredential = { expires_at: Date | null; isWelcome(): Promise<boolean> };

export type EventStream = { start(line: StreamConnection): void; unsubscribe(): void };
export type EventStreams = {
  /** Undefined: there is nothing more to tell, now or later. */
  open(query: EventQuery & StreamCredential): Promise<EventStream | undefined>;
  close(): void;
};

/** What may come while the past is still being told. */
const MAX_PENDING_EVENTS = 2000;
/** A credential that is taken away is remembered for four seconds, and must be refused after five: this is half of the rest. */
const CREDENTIAL_CHECK_MS = 500;

type StreamSession = {
  line?: StreamConnection;
  /** Where the tail goes on from: all before it is told by then. */
  from?: LogPosition;
  /** Everything up to here was told, or is not wanted. */
  last: LogPosition | undefined;
  /** What the reader knows of that. */
  known: LogPosition | undefined;
  /** What comes while the past is still being told. */
  pending: RenderedEvent[] | undefined;
  endsAt: number;
  isWelcome: StreamCredential["isWelcome"];
};

type Settings = z.output<typeof EventStreamsEnv>;

export function createEventStreams(services: Pick<Services, "db" | "assetUrl" | "log">, env: Settings): EventStreams {
  const tail = createLogTail(services, eventFrame);
  const activeSessions = new Set<StreamSession>();
  let isClosed = false;
  const timer = setInterval(() => {
    for (const session of activeSessions) sendHeartbeat(session);
  }, env.STREAM_HEARTBEAT_SECONDS * 1000);
  const watch = setInterval(() => {
    for (const session of activeSessions) void endIfRevoked(session);
  }, CREDENTIAL_CHECK_MS);
  for (const each of [timer, watch]) each.unref();

  const start = (session: StreamSession, query: EventQuery, past: AsyncIterable<EventRow[]>) => {
    const line = session.line!;
    activeSessions.add(session);
    line.send(retryFrame);
    const isActive = () => activeSessions.has(session);
    sendBacklog(session, query, { past, isThere: isActive })
      .then(() => isClosed && line.end())
      .catch((thrown) => {
        services.log.warn({ err: thrown }, "event stream failed");
        line.destroy();
      });
  };

  return {
    async open(asked) {
      const { isWelcome } = asked;
      const ends = { endsAt: streamEndTime(asked, env), isWelcome };
      const session: StreamSession = { last: undefined, known: undefined, pending: [], ...ends };
      const wish: EventQuery = { ...asked };
      const run_id = asked.run?.run_id ?? asked.filter.run_id;
      const joined = await tail.subscribe({
        tenant_id: asked.tenant_id,
        run_id,
        onEvent: (event) => onEvent(session, wish, event),
      });
      const leave = () => {
        activeSessions.delete(session);
        joined.unsubscribe();
      };
      try {
        // Only now: what is read of the past reaches at least to where the tail goes on from.
        wish.after = await clampToLogHead(asked, joined.from);
        Object.assign(session, { last: wish.after, known: wish.after });
        const past = await readBacklog(wish, joined.from);
        if (!past) leave();
        const begin = (line: StreamConnection) =>
          start(Object.assign(session, { line, from: joined.from }), wish, past!);
        return past && { unsubscribe: leave, start: begin };
      } catch (thrown) {
        leave();
        throw thrown;
      }
    },
    close() {
      isClosed = true;
      for (const each of [timer, watch]) clearInterval(each);
      for (const session of activeSessions) session.line?.end();
    },
  };
}

/** Tells the past as fast as it is taken, then what came meanwhile; from then on the session is live. */
async function sendBacklog(
  session: StreamSession,
  query: EventQuery,
  { past, isThere }: { past: AsyncIterable<EventRow[]>; isThere(): boolean },
): Promise<void> {
  const line = session.line!;
  const sendEach = async (all: RenderedEvent[]) => {
    for (const told of all) {
      if (!line.hasCapacity()) await line.drained();
      if (isThere()) sendEvent(session, query, told);
    }
  };
  for await (const rows of past) {
    await sendEach(await renderEvents(query.house, rows, eventFrame));
    if (!isThere()) return;
  }
  if (!session.last || isPositionAfter(session.from!, session.last)) session.last = session.from;
  while (session.pending && session.pending.length > 0) {
    if (session.pending.length > MAX_PENDING_EVENTS) line.destroy();
    if (!isThere()) return;
    await sendEach(session.pending.splice(0));
  }
  session.pending = undefined;
}

/** Not all at once: those that came together would also come back together. */
const streamEndTime = ({ expires_at }: StreamCredential, { STREAM_SECONDS }: Settings) =>
  Math.min(Date.now() + STREAM_SECONDS * 1000 * (0.9 + Math.random() * 0.1), expires_at?.getTime() ?? Infinity);

function onEvent(session: StreamSession, query: EventQuery, event: RenderedEvent): void {
  const { pending, line } = session;
  if (pending) {
    if (pending.length <= MAX_PENDING_EVENTS) pending.push(event);
  } else if (line?.hasCapacity()) sendEvent(session, query, event);
  else line?.destroy();
}

function sendEvent(session: StreamSession, { filter, run }: EventQuery, event: RenderedEvent): void {
  const { row, bytes } = event;
  const isKnown = session.last && row.xact > 0 && !isPositionAfter(row, session.last);
  if (isKnown) return;
  session.last = row;
  if (matchesFilter(filter, event)) {
    session.line?.send(bytes);
    session.known = row;
  }
  if (run && row.terminal) session.line?.end();
}

function endOrDestroy({ line }: StreamSession): void {
  if (line?.hasCapacity()) line.end();
  else line?.destroy();
}

/** Who is not welcome any more learns why at the door. A database that cannot be asked sends nobody away. */
async function endIfRevoked(session: StreamSession): Promise<void> {
  if (!(await session.isWelcome().catch(() => true))) endOrDestroy(session);
}

function sendHeartbeat(session: StreamSession): void {
  const { line, last, known, pending } = session;
  if (Date.now() >= session.endsAt) endOrDestroy(session);
  else if (line?.hasCapacity() && !pending) {
    line.send(heartbeatFrame(last === known ? undefined : last));
    session.known = last;
  }
}
