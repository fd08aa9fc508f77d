// Waits for runs to end, for any number of callers with one listener and one question per process.
import type { Database } from "../db/connect.ts";
import { endedOf } from "../db/runs.ts";

export type Settled = {
  /** Resolves when the run has ended or the time is over, whichever is first. Never rejects. */
  wait(runId: string, seconds: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** Words may be lost with a connection, so whoever is waited for is also asked about now and then. */
const LOOK_MS = 500;

export async function createSettled(db: Database): Promise<Settled> {
  const waiting = new Map<string, Set<() => void>>();
  const wake = (runId: string) => {
    for (const done of waiting.get(runId) ?? []) done();
  };
  const stopListening = await db.listen("gesso_ended", (payload) => {
    for (const runId of payload.split(" ")) wake(runId);
  });
  const timer = setInterval(() => {
    if (waiting.size === 0) return;
    endedOf(db, [...waiting.keys()]).then(
      (ids) => ids.forEach(wake),
      () => {},
    );
  }, LOOK_MS);
  timer.unref();

  return {
    wait(runId, seconds, signal) {
      return new Promise((resolve) => {
        const waiters = waiting.get(runId) ?? new Set();
        const timeout = setTimeout(() => done(), seconds * 1000);
        const done = () => {
          clearTimeout(timeout);
          waiters.delete(done);
          if (waiters.size === 0) waiting.delete(runId);
          resolve();
        };
        waiters.add(done);
        waiting.set(runId, waiters);
        signal?.addEventListener("abort", done, { once: true });
      });
    },
    async close() {
      clearInterval(timer);
      // Whoever still waits is answered with the run as it stands.
      for (const runId of [...waiting.keys()]) wake(runId);
      await stopListening();
    },
  };
}
