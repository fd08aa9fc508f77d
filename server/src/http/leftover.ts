// What a request still sends when its answer is already known. A small rest is taken off the line before the answer goes:
// whoever keeps the connection would otherwise send the next request into one that is about to be closed.
import type { IncomingMessage } from "node:http";

const SMALL_BYTES = 1024 * 1024;
const PATIENCE_MS = 1000;

export async function readToEnd(incoming: IncomingMessage): Promise<void> {
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (incoming.complete || incoming.destroyed || declared === 0 || declared > SMALL_BYTES) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      incoming.off("end", done).off("close", done);
      resolve();
    };
    const timer = setTimeout(done, PATIENCE_MS);
    incoming.once("end", done).once("close", done);
    incoming.resume();
  });
}
