// Lets a few do heavy work at the same time, and the others wait for their turn in the order in which they came.

export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>;

export const openTurns = (atOnce: number): Turns => {
  const queue: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy >= atOnce) await new Promise<void>((resolve) => queue.push(resolve));
    else busy += 1;
    try {
      return await work();
    } finally {
      // The place is handed on, so that nobody can slip in between.
      const following = queue.shift();
      if (following) following();
      else busy -= 1;
    }
  };
};
