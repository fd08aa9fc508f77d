// Disconnects clients that read a response below a minimum rate, so that slow readers cannot hold files, storage
// connections and memory. A client that waits for data, such as a quiet event stream, is not slow.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../runtime/clock.ts";

export type MinimumReadRate = {
  /** The window over which the rate is measured; data must have been waiting for all of it. */
  windowMs: number;
  minBytesPerSecond: number;
  checkIntervalMs: number;
};
const DEFAULT_RATE: MinimumReadRate = { windowMs: 20_000, minBytesPerSecond: 8192, checkIntervalMs: 2000 };

type TrackedResponse = { outgoing: ServerResponse; read: number; queued: number; since: number };
type ResponseSource = {
  on(event: "request", listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void): unknown;
  on(event: "close", listener: () => void): unknown;
};

export function enforceMinimumDownloadRate(
  server: ResponseSource,
  clock: Pick<Clock, "monotonic" | "every">,
  { windowMs, minBytesPerSecond, checkIntervalMs }: MinimumReadRate = DEFAULT_RATE,
): void {
  const tracked = new Set<TrackedResponse>();
  server.on("request", (_, outgoing) => {
    const response = { outgoing, read: 0, queued: 0, since: clock.monotonic() };
    tracked.add(response);
    outgoing.once("close", () => tracked.delete(response));
  });
  const timer = clock
    .every(checkIntervalMs, () => {
      const now = clock.monotonic();
      for (const response of tracked) {
        const { outgoing, since } = response;
        const { socket } = outgoing;
        if (!socket) continue;
        // What the kernel accepted: what was written minus what still waits in this process.
        const read = socket.bytesWritten - socket.writableLength;
        const queued = queuedBytes(socket);
        response.queued = Math.max(response.queued, queued);
        const progress = read - response.read + response.queued - queued;
        const isWaitingForClient = socket.writableLength > 0;
        const isSlow = progress * 1000 < minBytesPerSecond * (now - since);
        if (!isWaitingForClient || (now - since >= windowMs && !isSlow))
          Object.assign(response, { read, queued, since: now });
        else if (now - since >= windowMs) socket.destroy();
      }
    })
    .unref();
  server.on("close", () => timer.stop());
}

/**
 * What is left of the write that is in progress. A large body is one write, which the socket counts only when all of it
 * was read; Node looks here, too, before it ends an idle connection.
 */
const queuedBytes = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;
