// A counting semaphore with a FIFO queue: limits how many expensive tasks run at the same time.

export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

export const createSemaphore = (atOnce: number): Semaphore => {
  const queue: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy >= atOnce) await new Promise<void>((resolve) => queue.push(resolve));
    else busy += 1;
    try {
      return await work();
    } finally {
      // The slot is passed on directly, so that no other task can take it in between.
      const following = queue.shift();
      if (following) following();
      else busy -= 1;
    }
  };
};
