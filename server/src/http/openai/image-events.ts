// Streams a run to OpenAI's clients as server-sent events: comments while the run is in progress, then one `completed`
// event per image, or an `error` event. Providers report no partial images, so there are no such events.
import type { RunRow } from "../../db/runs/runs.ts";
import { toFault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import { toErrorResponse } from "./openai-error.ts";

/** Shorter than the idle timeouts of common proxies. */
const KEEP_ALIVE_MS = 15_000;

export type StreamedRun = {
  /** Resolves when the run has ended; rejects with the fault of a run that failed or takes too long. */
  waitForEnd(): Promise<RunRow>;
  writeImages(row: RunRow): AsyncIterable<Uint8Array>;
  /** Called once, when the stream ends or the client is gone. */
  onEnd(): void;
  clock: Pick<Clock, "sleep">;
  keepAliveMs?: number;
};

export async function* writeImageEvents({
  waitForEnd,
  writeImages,
  onEnd,
  clock,
  keepAliveMs = KEEP_ALIVE_MS,
}: StreamedRun): AsyncGenerator<Uint8Array> {
  const stop = new AbortController();
  try {
    // The first bytes carry the headers to the client.
    yield text(": accepted\n\n");
    const ending = waitForEnd();
    ending.catch(() => {});
    for (;;) {
      const pause = clock.sleep(keepAliveMs, stop.signal).catch(() => undefined);
      const row = await Promise.race([ending, pause]);
      if (row) {
        yield* writeImages(row);
        return;
      }
      yield text(": keep-alive\n\n");
    }
  } catch (thrown) {
    const { error } = toErrorResponse(toFault(thrown));
    yield text(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
  } finally {
    stop.abort();
    onEnd();
  }
}

const text = (value: string) => Buffer.from(value);
