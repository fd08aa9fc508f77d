// Slowloris protection: ends requests whose body arrives below a minimum rate, so that slow clients cannot hold
// connections open.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Ids } from "../../runtime/clock.ts";
import { respondToMalformedRequest } from "./malformed-request.ts";

/**
 * Headers must arrive within 10 s; a body may take up to 5 minutes, as long as it keeps the minimum rate. Idle
 * connections stay open longer than reverse proxies keep them, 120 s at most: a proxy that used a connection while it
 * is closed would return 502, and one that opened a new connection would wait behind a burst of others.
 */
export const SERVER_TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 300_000,
  connectionsCheckingInterval: 5000,
  keepAliveTimeout: 125_000,
};

export type MinimumUploadRate = {
  /** Grace period of a request, and the window over which its rate is measured. */
  windowMs: number;
  minBytesPerSecond: number;
  checkIntervalMs: number;
};
const DEFAULT_RATE: MinimumUploadRate = { windowMs: 10_000, minBytesPerSecond: 4096, checkIntervalMs: 2000 };

type TrackedUpload = { incoming: IncomingMessage; outgoing: ServerResponse; bytes: number; since: number };
type HttpListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
type HttpServerEvents = {
  on(event: "request", listener: HttpListener): unknown;
  on(event: "close", listener: () => void): unknown;
};

type Runtime = { clock: Pick<Clock, "monotonic" | "after" | "every">; ids: Ids };

/** Responds with request_timeout to requests whose body arrives too slowly. */
export function enforceMinimumUploadRate(
  server: HttpServerEvents,
  runtime: Runtime,
  { windowMs, minBytesPerSecond, checkIntervalMs }: MinimumUploadRate = DEFAULT_RATE,
): void {
  const { clock } = runtime;
  const tracked = new Set<TrackedUpload>();
  server.on("request", (incoming, outgoing) => {
    const request = { incoming, outgoing, bytes: incoming.socket.bytesRead, since: clock.monotonic() };
    tracked.add(request);
    for (const stream of [incoming, outgoing]) stream.once("close", () => tracked.delete(request));
    incoming.once("end", () => tracked.delete(request));
  });
  const timer = clock
    .every(checkIntervalMs, () => {
      const now = clock.monotonic();
      for (const request of tracked) {
        const { incoming, outgoing, bytes, since } = request;
        // A completely received request is not slow: the client is waiting for the response.
        if (now - since < windowMs || incoming.complete) continue;
        const { bytesRead } = incoming.socket;
        const isSlow = (bytesRead - bytes) * 1000 < minBytesPerSecond * (now - since);
        if (!isSlow) Object.assign(request, { bytes: bytesRead, since: now });
        else if (tracked.delete(request)) closeSlowRequest(incoming.socket, outgoing, runtime);
      }
    })
    .unref();
  server.on("close", () => timer.stop());
}

function closeSlowRequest(socket: Socket, outgoing: ServerResponse, runtime: Runtime): void {
  if (outgoing.headersSent) return void socket.destroy();
  const tooSlow = Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
  respondToMalformedRequest(tooSlow, socket, runtime);
}
