// Slowloris protection: ends requests whose body arrives below a minimum rate, so that slow clients cannot hold connections open.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { respondToMalformedRequest } from "./malformed-request.ts";

/** Headers must be there soon; a body may take long, as long as it keeps coming. */
export const SERVER_TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 300_000, connectionsCheckingInterval: 5000 };

export type MinimumUploadRate = {
  /** How long a request is left alone, and over how long its pace is measured. */
  windowMs: number;
  minBytesPerSecond: number;
  checkIntervalMs: number;
};
const PACE: MinimumUploadRate = { windowMs: 10_000, minBytesPerSecond: 4096, checkIntervalMs: 2000 };

type Watched = { incoming: IncomingMessage; outgoing: ServerResponse; bytes: number; since: number };
type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
type Requests = {
  on(event: "request", listener: Listener): unknown;
  on(event: "close", listener: () => void): unknown;
};

/** Ends requests whose bodies come too slowly, with an answer that says so. */
export function enforceMinimumUploadRate(
  server: Requests,
  { windowMs, minBytesPerSecond: leastBytesPerSecond, checkIntervalMs: lookMs }: MinimumUploadRate = PACE,
): void {
  const watched = new Set<Watched>();
  server.on("request", (incoming, outgoing) => {
    const one = { incoming, outgoing, bytes: incoming.socket.bytesRead, since: performance.now() };
    watched.add(one);
    for (const stream of [incoming, outgoing]) stream.once("close", () => watched.delete(one));
    incoming.once("end", () => watched.delete(one));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const one of watched) {
      const { incoming, outgoing, bytes, since } = one;
      // A completely received request is not slow: the client is waiting for the response.
      if (now - since < windowMs || incoming.complete) continue;
      const { bytesRead } = incoming.socket;
      const isSlow = (bytesRead - bytes) * 1000 < leastBytesPerSecond * (now - since);
      if (!isSlow) Object.assign(one, { bytes: bytesRead, since: now });
      else if (watched.delete(one)) closeSlowRequest(incoming.socket, outgoing);
    }
  }, lookMs).unref();
  server.on("close", () => clearInterval(timer));
}

function closeSlowRequest(socket: Socket, outgoing: ServerResponse): void {
  if (outgoing.headersSent) return void socket.destroy();
  respondToMalformedRequest(Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
}
