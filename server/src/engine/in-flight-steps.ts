// Counts the steps that this worker is executing. On shutdown the worker drains: it finishes steps in flight, above all
// paid submissions, and rejects new ones, which the engine then sends to another worker.
export type InFlightSteps = {
  /** Does the work unless the worker is leaving; then it throws, and the engine asks somebody else. */
  track<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is going on any more, or the time is over. */
  drain(seconds: number): Promise<void>;
};

export function createInFlightSteps(): InFlightSteps {
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
        setTimeout(resolve, seconds * 1000).unref();
      });
    },
  };
}
