// Tells whether a response reached the network completely, so that a repeated request can join the run of a lost one.
import type { ServerResponse } from "node:http";
import type { JoinedRequest } from "../idempotency/client-requests.ts";
import type { Log } from "../observe/log.ts";

export function trackDelivery(response: ServerResponse, request: JoinedRequest, log: Log): void {
  const end = () => {
    request.end(response.writableFinished ? "answered" : "lost").catch((thrown) => {
      // The request stays open; it counts as lost when this process ends.
      log.warn({ err: thrown }, "could not record whether a response was delivered");
    });
  };
  if (response.closed) end();
  else response.once("close", end);
}
