// Waits for runs to end, for any number of callers with one listener and one question per process.
import type { Database } from "../db/connect.ts";
import { listEndedRuns } from "../db/runs/runs.ts";

export type RunWaiter = {
  /** Resolves when the run has ended or the time is over, whichever is first. Never rejects. */
  waitForEnd(runId: string, seconds: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** Notifications may be lost with a connection, so runs with waiters are also polled. */
const POLL_MS = 500;

export async function createRunWaiter(db: Database): Promise<RunWaiter> {
  const waitersByRun = new Map<string, Set<() => void>>();
  const wake = (runId: string) => {
    for (const done of waitersByRun.get(runId) ?? []) done();
  };
  const stopListening = await db.listen("gesso_ended", (payload) => {
    for (const runId of payload.split(" ")) wake(runId);
  });
  const timer = setInterval(() => {
    if (waitersByRun.size === 0) return;
    listEndedRuns(db, [...waitersByRun.keys()]).then(
      (ids) => ids.forEach(wake),
      () => {},
    );
  }, POLL_MS);
  timer.unref();

  return {
    waitForEnd(runId, seconds, signal) {
      return new Promise((resolve) => {
        const waiters = waitersByRun.get(runId) ?? new Set();
        const timeout = setTimeout(() => done(), seconds * 1000);
        const done = () => {
          clearTimeout(timeout);
          waiters.delete(done);
          if (waiters.size === 0) waitersByRun.delete(runId);
          resolve();
        };
        waiters.add(done);
        waitersByRun.set(runId, waiters);
        signal?.addEventListener("abort", done, { once: true });
      });
    },
    async close() {
      clearInterval(timer);
      // Whoever still waits is answered with the run as it stands.
      for (const runId of [...waitersByRun.keys()]) wake(runId);
      await stopListening();
    },
  };
}
