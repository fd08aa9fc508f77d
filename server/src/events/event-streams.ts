// Open event streams. Each gets the backlog and then live events, in log order and each once. A reader that does not
// keep up is disconnected; it reconnects with its last event id and misses nothing.

import { z } from "zod";
import { type EventRow, isPositionAfter, type LogPosition } from "../db/event-log.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { Clock } from "../runtime/clock.ts";
import { type EventQuery, isEventFor, readBacklog, requireKnownPosition } from "./backlog.ts";
import { createLogTail, type EventServices, type RenderedEvent, renderEvents } from "./log-tail.ts";
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

/** The connection to the reader. */
export type StreamConnection = {
  hasCapacity(): boolean;
  /** Resolves when the buffer has capacity again, or the connection is closed. */
  drained(): Promise<void>;
  send(bytes: Uint8Array): void;
  end(): void;
  /** Closes the connection at once, dropping unsent bytes: the reader is too slow. */
  destroy(): void;
};

/** The credential of a stream: when it expires, and whether it still grants the same rights. */
export type StreamCredential = { expires_at: Date | null; isStillValid(): Promise<boolean> };

export type EventStream = { start(connection: StreamConnection): void; unsubscribe(): void };
export type EventStreams = {
  /** Returns undefined if no further event will ever match. */
  open(query: EventQuery & StreamCredential): Promise<EventStream | undefined>;
  close(): void;
};

/** Live events that may be buffered while the backlog is sent. */
const MAX_PENDING_EVENTS = 2000;
/**
 * A revoked credential stays cached for four seconds and must be refused after five: this is half of the difference.
 */
const CREDENTIAL_CHECK_MS = 500;

type StreamSession = {
  connection?: StreamConnection;
  /** Position at which live events begin. */
  from?: LogPosition;
  /** Every event up to here was sent or did not match. */
  last: LogPosition | undefined;
  /** The last position that the reader received. */
  acknowledged: LogPosition | undefined;
  /** Live events that arrive while the backlog is sent; undefined afterwards. */
  pending: RenderedEvent[] | undefined;
  endsAt: number;
  isStillValid: StreamCredential["isStillValid"];
};

type Settings = z.output<typeof EventStreamsEnv>;

type Dependencies = EventServices & Pick<Runtime, "clock" | "random" | "log">;

export function createEventStreams(services: Dependencies, env: Settings): EventStreams {
  const tail = createLogTail(services, eventFrame);
  const activeSessions = new Set<StreamSession>();
  let isClosed = false;
  const { clock } = services;
  const heartbeatTimer = clock.every(env.STREAM_HEARTBEAT_SECONDS * 1000, () => {
    for (const session of activeSessions) sendHeartbeat(session, clock);
  });
  const credentialTimer = clock.every(CREDENTIAL_CHECK_MS, () => {
    for (const session of activeSessions) void endIfRevoked(session);
  });
  for (const each of [heartbeatTimer, credentialTimer]) each.unref();

  const start = (session: StreamSession, query: EventQuery, backlog: AsyncIterable<EventRow[]>) => {
    const connection = session.connection!;
    activeSessions.add(session);
    connection.send(retryFrame);
    const isActive = () => activeSessions.has(session);
    sendBacklog(session, query, { backlog, isActive })
      .then(() => isClosed && connection.end())
      .catch((thrown) => {
        services.log.warn({ err: thrown }, "event stream failed");
        connection.destroy();
      });
  };

  return {
    async open(request) {
      const session: StreamSession = {
        ...{ last: undefined, acknowledged: undefined, pending: [] },
        endsAt: streamEndTime(services, request, env),
        isStillValid: request.isStillValid,
      };
      const query: EventQuery = { ...request };
      const subscription = await tail.subscribe({
        tenant_id: request.tenant_id,
        run_id: request.run?.run_id ?? request.filter.run_id,
        onEvent: (event) => onEvent(session, query, event),
      });
      const unsubscribe = () => {
        activeSessions.delete(session);
        subscription.unsubscribe();
      };
      try {
        // Read after subscribing, so that the backlog reaches at least to the position where live events begin.
        await requireKnownPosition(query);
        Object.assign(session, { last: query.after, acknowledged: query.after });
        const backlog = await readBacklog(query, subscription.from);
        if (!backlog) {
          unsubscribe();
          return undefined;
        }
        const begin = (connection: StreamConnection) =>
          start(Object.assign(session, { connection, from: subscription.from }), query, backlog);
        return { unsubscribe, start: begin };
      } catch (thrown) {
        unsubscribe();
        throw thrown;
      }
    },
    close() {
      isClosed = true;
      for (const each of [heartbeatTimer, credentialTimer]) each.stop();
      for (const session of activeSessions) session.connection?.end();
    },
  };
}

/**
 * Sends the backlog as fast as it is read, then the live events that arrived meanwhile; from then on the session is
 * live.
 */
async function sendBacklog(
  session: StreamSession,
  query: EventQuery,
  { backlog, isActive }: { backlog: AsyncIterable<EventRow[]>; isActive(): boolean },
): Promise<void> {
  const connection = session.connection!;
  const sendAll = async (events: RenderedEvent[]) => {
    for (const event of events) {
      if (!connection.hasCapacity()) await connection.drained();
      if (isActive()) sendEvent(session, query, event);
    }
  };
  for await (const rows of backlog) {
    await sendAll(await renderEvents(query.services, rows, eventFrame));
    if (!isActive()) return;
  }
  if (!session.last || isPositionAfter(session.from!, session.last)) session.last = session.from;
  while (session.pending && session.pending.length > 0) {
    if (session.pending.length > MAX_PENDING_EVENTS) connection.destroy();
    if (!isActive()) return;
    await sendAll(session.pending.splice(0));
  }
  session.pending = undefined;
}

/** The duration has a random part, so that streams opened at the same time do not reconnect at the same time. */
const streamEndTime = (
  { clock, random }: Pick<Runtime, "clock" | "random">,
  { expires_at }: StreamCredential,
  { STREAM_SECONDS }: Settings,
) => Math.min(clock.now() + STREAM_SECONDS * 1000 * (0.9 + random() * 0.1), expires_at?.getTime() ?? Infinity);

function onEvent(session: StreamSession, query: EventQuery, event: RenderedEvent): void {
  const { pending, connection } = session;
  if (pending) {
    if (pending.length <= MAX_PENDING_EVENTS) pending.push(event);
  } else if (connection?.hasCapacity()) sendEvent(session, query, event);
  else connection?.destroy();
}

function sendEvent(session: StreamSession, query: EventQuery, event: RenderedEvent): void {
  const { row, bytes } = event;
  const wasSent = session.last && row.xact > 0 && !isPositionAfter(row, session.last);
  if (wasSent) return;
  session.last = row;
  if (isEventFor(query, event)) {
    session.connection?.send(bytes);
    session.acknowledged = row;
  }
  if (query.run && row.terminal) session.connection?.end();
}

function endOrDestroy({ connection }: StreamSession): void {
  if (connection?.hasCapacity()) connection.end();
  else connection?.destroy();
}

/**
 * Ends the stream of a revoked credential; the reconnect is then refused with the reason. A failed check ends nothing.
 */
async function endIfRevoked(session: StreamSession): Promise<void> {
  if (!(await session.isStillValid().catch(() => true))) endOrDestroy(session);
}

function sendHeartbeat(session: StreamSession, clock: Clock): void {
  const { connection, last, acknowledged, pending } = session;
  if (clock.now() >= session.endsAt) endOrDestroy(session);
  else if (connection?.hasCapacity() && !pending) {
    connection.send(heartbeatFrame(last === acknowledged ? undefined : last));
    session.acknowledged = last;
  }
}
