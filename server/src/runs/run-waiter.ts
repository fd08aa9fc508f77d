// Lets requests wait for the end of their run. One LISTEN connection and one query per interval serve all of a process.
import type { Database } from "../db/connect.ts";
import { listEndedRuns } from "../db/runs/runs.ts";

export type RunWaiter = {
  /** Resolves when the run has ended, the timeout has passed or the signal is aborted. Never rejects. */
  waitForEnd(runId: string, seconds: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** Notifications may be lost with a connection, so runs with waiters are also polled. */
const POLL_MS = 500;

/** The LISTEN connection holds the advisory lock that tells other processes that this one lives. */
export async function createRunWaiter(database: Database, lock?: number): Promise<RunWaiter> {
  const waitersByRun = new Map<string, Set<() => void>>();
  const wake = (runId: string) => {
    for (const done of waitersByRun.get(runId) ?? []) done();
  };
  const onNotification = (payload: string) => {
    for (const runId of payload.split(" ")) wake(runId);
  };
  const stopListening = await database.listen("gesso_ended", onNotification, lock);
  const timer = setInterval(() => {
    if (waitersByRun.size === 0) return;
    listEndedRuns(database, [...waitersByRun.keys()]).then(
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
      // Requests that still wait respond with the current state of their run.
      for (const runId of [...waitersByRun.keys()]) wake(runId);
      await stopListening();
    },
  };
}
