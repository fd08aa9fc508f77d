// A clock that a test moves. Timers fire in the order of their times while the test advances the clock, so a test of a
// lease or a timeout takes no time and sees exactly the timers that the code started.
import { setImmediate as turnOfEventLoop } from "node:timers/promises";
import type { Clock, Timer } from "../../src/runtime/clock.ts";

/** A timer that has not fired. `ms` is its length, `dueAt` the reading of the clock at which it fires. */
export type PendingTimer = { ms: number; dueAt: number; isRef: boolean };

export type ManualClock = Clock & {
  /** The reading of both clocks, in milliseconds. Setting it fires no timers: the process was stalled, or is new. */
  at: number;
  /** Fires all timers that become due within this time, in order, with the clock at the time of each. */
  advance(ms: number): Promise<void>;
  /** Has the clock wait for this before it fires the next timer: for work in progress that is not on the clock. */
  settleWith(wait: () => Promise<void>): void;
  /** In the order in which they fire. */
  timers(): PendingTimer[];
  /** Resolves as soon as a timer of this length is pending. The code under test has then reached its wait. */
  waitForTimer(ms: number): Promise<void>;
};

type Entry = PendingTimer & { order: number; interval: number | undefined; work(): void };

export function createManualClock(at = 0): ManualClock {
  const entries = new Set<Entry>();
  let waiting: { ms: number; resolve(): void }[] = [];
  const settlers: (() => Promise<void>)[] = [];
  let order = 0;

  const settle = async () => {
    await turnOfEventLoop();
    for (const wait of settlers) await wait();
  };
  const start = (ms: number, work: () => void, interval?: number): Timer => {
    const entry: Entry = { ms, work, interval, dueAt: clock.at + Math.max(ms, 0), isRef: true, order: order++ };
    entries.add(entry);
    const isFulfilled = (wish: { ms: number }) => wish.ms === ms;
    for (const wish of waiting.filter(isFulfilled)) wish.resolve();
    waiting = waiting.filter((wish) => !isFulfilled(wish));
    return {
      stop: () => void entries.delete(entry),
      unref() {
        entry.isRef = false;
        return this;
      },
    };
  };
  const inOrder = () => [...entries].sort((one, other) => one.dueAt - other.dueAt || one.order - other.order);
  const fire = (entry: Entry) => {
    if (entry.interval === undefined) entries.delete(entry);
    else {
      // An interval of 0 would fire forever at the same reading; the system's timers take at least a millisecond.
      entry.dueAt = clock.at + Math.max(entry.interval, 1);
      entry.order = order++;
    }
    entry.work();
  };

  const clock: ManualClock = {
    at,
    now: () => clock.at,
    monotonic: () => clock.at,
    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = () => {
        timer.stop();
        reject(signal!.reason);
      };
      const timer = start(ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
      return promise;
    },
    after: (ms, work) => start(ms, work),
    every: (ms, work) => start(ms, work, ms),
    async advance(ms) {
      const end = clock.at + ms;
      for (;;) {
        await settle();
        const next = inOrder()[0];
        if (!next || next.dueAt > end) break;
        // The clock never goes backwards, also for a timer that was due before `at` was set.
        clock.at = Math.max(clock.at, next.dueAt);
        fire(next);
      }
      clock.at = Math.max(clock.at, end);
    },
    settleWith: (wait) => void settlers.push(wait),
    timers: () => inOrder().map(({ ms, dueAt, isRef }) => ({ ms, dueAt, isRef })),
    waitForTimer: (ms) =>
      [...entries].some((entry) => entry.ms === ms)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ ms, resolve })),
  };
  return clock;
}
