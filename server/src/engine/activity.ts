// What a worker is in the middle of. A worker that is told to stop finishes the steps it has begun, above all a submission
// that is being paid for, and begins no other: those are done by the next worker, as if nothing had happened.
export type Activity = {
  /** Does the work unless the worker is leaving; then it throws, and the engine asks somebody else. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is going on any more, or the time is over. */
  leave(seconds: number): Promise<void>;
};

export function createActivity(): Activity {
  let underWay = 0;
  let isLeaving = false;
  let noneLeft = () => {};

  return {
    async during(work) {
      if (isLeaving) throw new Error("this worker is leaving");
      underWay++;
      try {
        return await work();
      } finally {
        underWay--;
        if (underWay === 0) noneLeft();
      }
    },
    leave(seconds) {
      isLeaving = true;
      return new Promise((resolve) => {
        noneLeft = resolve;
        if (underWay === 0) resolve();
        setTimeout(resolve, seconds * 1000).unref();
      });
    },
  };
}
