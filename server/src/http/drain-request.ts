// Drains a small request body (up to 1 MiB, for up to 5 s) that is still arriving when the response is ready. Otherwise
// a client with keep-alive would send its next request on a connection that is about to close.
import type { IncomingMessage } from "node:http";

const MAX_DRAINED_BYTES = 1024 * 1024;
const DRAIN_TIMEOUT_MS = 5000;

export async function drainRequestBody(incoming: IncomingMessage): Promise<void> {
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (incoming.complete || incoming.destroyed || declared === 0 || declared > MAX_DRAINED_BYTES) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      incoming.off("end", done).off("close", done);
      resolve();
    };
    const timer = setTimeout(done, DRAIN_TIMEOUT_MS);
    incoming.once("end", done).once("close", done);
    incoming.resume();
  });
}
