// Shares the connections of the pool between tenants: when all are in use, the tenants that wait get the next ones in
// turn. A tenant with a thousand waiting statements delays those of another by one statement, not by a thousand.
import type { Clock } from "../runtime/clock.ts";

export type FairTurns = {
  /** Resolves when `holder` may use a connection. Rejects after the time limit. */
  begin(holder: string): Promise<void>;
  end(): void;
  /** How long the oldest statement that still waits has waited, in milliseconds: of these holders, or of all. */
  waitMs(holders?: string[]): number;
};

type Waiter = { since: number; proceed(): void };

export function createFairTurns(
  connections: number,
  timeoutMs: number,
  clock: Pick<Clock, "monotonic" | "after">,
): FairTurns {
  let active = 0;
  /** Tenants in the order of their next turn, each with its statements in the order of arrival. */
  const queues = new Map<string, Set<Waiter>>();

  const wait = (holder: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const queue = queues.get(holder) ?? new Set();
      const waiter: Waiter = {
        since: clock.monotonic(),
        proceed: () => {
          timer.stop();
          resolve();
        },
      };
      const timer = clock.after(timeoutMs, () => {
        queue.delete(waiter);
        if (queue.size === 0 && queues.get(holder) === queue) queues.delete(holder);
        reject(new Error("timeout exceeded when trying to connect"));
      });
      queue.add(waiter);
      queues.set(holder, queue);
    });

  return {
    begin(holder) {
      if (active >= connections) return wait(holder);
      active++;
      return Promise.resolve();
    },
    end() {
      const [holder, queue] = queues.entries().next().value ?? [];
      const [waiter] = queue ?? [];
      if (holder === undefined || !queue || !waiter) {
        active--;
        return;
      }
      queue.delete(waiter);
      // The tenant's next turn comes after those of all others that wait.
      queues.delete(holder);
      if (queue.size > 0) queues.set(holder, queue);
      waiter.proceed();
    },
    waitMs(holders = [...queues.keys()]) {
      const oldest = holders.map((holder) => queues.get(holder)?.values().next().value?.since ?? Infinity);
      return Math.max(0, clock.monotonic() - Math.min(...oldest));
    },
  };
}
