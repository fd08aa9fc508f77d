// The clock of the machine. This is the only file of the server that starts timers: all others get a clock handed in,
// which a test can replace by one that it moves itself.
import type { Clock, Timer } from "./clock.ts";

const toTimer = (timeout: NodeJS.Timeout): Timer => ({
  stop: () => clearTimeout(timeout),
  unref() {
    timeout.unref();
    return this;
  },
});

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => {
      clearTimeout(timeout);
      reject(signal!.reason);
    };
    const timeout = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    return promise;
  },
  after: (ms, work) => toTimer(setTimeout(work, ms)),
  every: (ms, work) => toTimer(setInterval(work, ms)),
};
