// Responds to requests that never reach the framework, because they are not HTTP, too large or too slow, with the API's
// error body.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Fault } from "../../faults/faults.ts";
import type { Clock, Ids } from "../../runtime/clock.ts";

const STATUS_TEXT: Record<number, string> = { 400: "Bad Request", 408: "Request Timeout", 431: "Headers Too Large" };
const CLOSE_TIMEOUT_MS = 1000;
const NOT_HTTP = { path: "", code: "invalid_type", message: "Malformed HTTP request." };

function faultOfParserError(code: string | undefined): Fault {
  if (code === "HPE_HEADER_OVERFLOW") return new Fault("headers_too_large");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new Fault("request_timeout");
  return new Fault("validation_error", { errors: [NOT_HTTP] });
}

type Runtime = { clock: Pick<Clock, "after">; ids: Ids };

type MalformedRequestSource = {
  on(event: "request", listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void): unknown;
  on(event: "clientError", listener: (thrown: NodeJS.ErrnoException, socket: Duplex) => void): unknown;
};

/**
 * A request whose body turns out to be malformed after its response was sent gets no second response: a proxy would
 * take that for the response to the next request.
 */
export function respondToMalformedRequests(server: MalformedRequestSource, runtime: Runtime): void {
  const latest = new WeakMap<Duplex, { incoming: IncomingMessage; outgoing: ServerResponse }>();
  server.on("request", (incoming, outgoing) => latest.set(incoming.socket, { incoming, outgoing }));
  server.on("clientError", (thrown, socket) => {
    const request = latest.get(socket);
    if (request && !request.incoming.complete && request.outgoing.headersSent) closeSocket(socket, runtime);
    else respondToMalformedRequest(thrown, socket, runtime);
  });
}

export function respondToMalformedRequest(thrown: NodeJS.ErrnoException, socket: Duplex, runtime: Runtime): void {
  if (thrown.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const fault = faultOfParserError(thrown.code);
  const requestId = `req_${runtime.ids.next().replaceAll("-", "")}`;
  const { details, ...plain } = fault.body();
  const body = JSON.stringify({ ...plain, details: { request_id: requestId, ...details } });
  const lines = [
    `HTTP/1.1 ${fault.status} ${STATUS_TEXT[fault.status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...(fault.retryable ? ["Retry-After: 1"] : []),
    "Connection: close",
  ];
  closeSocket(socket, runtime, `${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** The socket is destroyed after one second: a half-closed connection would otherwise stay open. */
function closeSocket(socket: Duplex, { clock }: Pick<Runtime, "clock">, last = ""): void {
  socket.end(last);
  clock.after(CLOSE_TIMEOUT_MS, () => socket.destroy()).unref();
}
