// Lets requests wait for the end of their run. One LISTEN connection and one query per interval serve all of a process.
import type { Database } from "../../db/connect.ts";
import { listEndedRuns } from "../../db/runs/runs.ts";
import type { Clock } from "../../runtime/clock.ts";

export type RunWaiter = {
  /** Resolves when the run has ended, the timeout has passed or the signal is aborted. Never rejects. */
  waitForEnd(runId: string, seconds: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

/** Notifications may be lost with a connection, so runs with waiters are also polled. */
const POLL_MS = 500;

type Dependencies = { database: Database; clock: Pick<Clock, "after" | "every"> };

/** The LISTEN connection holds the advisory lock that tells other processes that this one lives. */
export async function createRunWaiter({ database, clock }: Dependencies, lock?: number): Promise<RunWaiter> {
  const waitersByRun = new Map<string, Set<() => void>>();
  const wake = (runId: string) => {
    for (const done of waitersByRun.get(runId) ?? []) done();
  };
  const onNotification = (payload: string) => {
    for (const runId of payload.split(" ")) wake(runId);
  };
  const stopListening = await database.listen("gesso_ended", onNotification, lock);
  const timer = clock.every(POLL_MS, () => {
    if (waitersByRun.size === 0) return;
    listEndedRuns(database, [...waitersByRun.keys()]).then(
      (ids) => ids.forEach(wake),
      () => {},
    );
  });
  timer.unref();

  return {
    waitForEnd(runId, seconds, signal) {
      return new Promise((resolve) => {
        const waiters = waitersByRun.get(runId) ?? new Set();
        const timeout = clock.after(seconds * 1000, () => done());
        const done = () => {
          timeout.stop();
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
      timer.stop();
      // Requests that still wait respond with the current state of their run.
      for (const runId of [...waitersByRun.keys()]) wake(runId);
      await stopListening();
    },
  };
}
