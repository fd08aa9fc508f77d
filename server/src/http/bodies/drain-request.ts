// Drains a small request body (up to 1 MiB, for up to 5 s) that is still arriving when the response is ready. Otherwise
// a client with keep-alive would send its next request on a connection that is about to close.
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../runtime/clock.ts";

const MAX_DRAINED_BYTES = 1024 * 1024;
const DRAIN_TIMEOUT_MS = 5000;

export async function drainRequestBody(incoming: IncomingMessage, clock: Pick<Clock, "after">): Promise<void> {
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (incoming.complete || incoming.destroyed || declared === 0 || declared > MAX_DRAINED_BYTES) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      timer.stop();
      incoming.off("end", done).off("close", done);
      resolve();
    };
    const timer = clock.after(DRAIN_TIMEOUT_MS, done);
    incoming.once("end", done).once("close", done);
    incoming.resume();
  });
}
