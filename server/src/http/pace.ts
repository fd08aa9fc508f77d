// Whoever sends a request must send it at a pace: a thousand callers that send a byte now and then would otherwise hold
// a thousand connections, and everybody else would wait for them.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answerBroken } from "./broken.ts";

/** Headers must be there soon; a body may take long, as long as it keeps coming. */
export const SERVER_TIMES = { headersTimeout: 10_000, requestTimeout: 300_000, connectionsCheckingInterval: 5000 };

export type Pace = {
  /** How long a request is left alone, and over how long its pace is measured. */
  windowMs: number;
  leastBytesPerSecond: number;
  lookMs: number;
};
const PACE: Pace = { windowMs: 10_000, leastBytesPerSecond: 4096, lookMs: 2000 };

type Watched = { incoming: IncomingMessage; outgoing: ServerResponse; bytes: number; since: number };
type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
type Requests = {
  on(event: "request", listener: Listener): unknown;
  on(event: "close", listener: () => void): unknown;
};

/** Ends requests whose bodies come too slowly, with an answer that says so. */
export function keepPace(server: Requests, { windowMs, leastBytesPerSecond, lookMs }: Pace = PACE): void {
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
      // What has arrived whole is waited for by its sender, not by us.
      if (now - since < windowMs || incoming.complete) continue;
      const { bytesRead } = incoming.socket;
      const isSlow = (bytesRead - bytes) * 1000 < leastBytesPerSecond * (now - since);
      if (!isSlow) Object.assign(one, { bytes: bytesRead, since: now });
      else if (watched.delete(one)) cut(incoming.socket, outgoing);
    }
  }, lookMs).unref();
  server.on("close", () => clearInterval(timer));
}

function cut(socket: Socket, outgoing: ServerResponse): void {
  if (outgoing.headersSent) return void socket.destroy();
  answerBroken(Object.assign(new Error("too slow"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
}
