// Reports whether a response reached the socket completely. A request whose response did not is joined by the next equal
// one of the client.
import type { ServerResponse } from "node:http";
import type { JoinedRequest } from "../../idempotency/client-requests.ts";
import type { Log } from "../../observe/log.ts";

export function reportDelivery(outgoing: ServerResponse, request: Pick<JoinedRequest, "end">, log: Log): void {
  let isReported = false;
  const report = (outcome: "answered" | "lost") => {
    if (isReported) return;
    isReported = true;
    request.end(outcome).catch((thrown) => log.warn({ err: thrown, outcome }, "delivery of a response not recorded"));
  };
  outgoing.once("finish", () => report("answered"));
  outgoing.once("close", () => report("lost"));
  // The client may have gone while its request was read.
  if (outgoing.closed || outgoing.destroyed) report(outgoing.writableFinished ? "answered" : "lost");
}
