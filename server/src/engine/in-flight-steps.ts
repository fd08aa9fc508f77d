// Counts the steps that this worker is executing. On shutdown the worker drains: it finishes steps in flight, above all
// paid submissions, and rejects new ones, which the engine then sends to another worker.
import type { Clock } from "../runtime/clock.ts";

export type InFlightSteps = {
  /** Executes the step. Throws if the worker is draining; the engine then sends the step to another worker. */
  track<T>(work: () => Promise<T>): Promise<T>;
  /** Rejects new steps and resolves when no step is in flight, or after the timeout. */
  drain(seconds: number): Promise<void>;
};

export function createInFlightSteps(clock: Pick<Clock, "after">): InFlightSteps {
  let inFlight = 0;
  let isDraining = false;
  let onIdle = () => {};

  return {
    async track(work) {
      if (isDraining) throw new Error("this worker is shutting down");
      inFlight++;
      try {
        return await work();
      } finally {
        inFlight--;
        if (inFlight === 0) onIdle();
      }
    },
    drain(seconds) {
      isDraining = true;
      return new Promise((resolve) => {
        onIdle = resolve;
        if (inFlight === 0) resolve();
        clock.after(seconds * 1000, resolve).unref();
      });
    },
  };
}
