// Whether two operations take different times. Samples are taken in random order, so that whatever else the machine
// does affects both alike, and compared by Welch's t-test without the slowest samples.

/** Above this, a difference in time is not chance: it happens once in 150,000 comparisons of equal operations. */
export const MAX_T = 4.5;
/** The slowest fifth of all samples is left out: interruptions by other processes hide small differences. */
const KEPT_SHARE = 0.8;

/** Times of each operation, in milliseconds. `operations` are performed one at a time. */
export async function sampleTimes(
  operations: ((sample: number) => Promise<unknown>)[],
  { samples, random }: { samples: number; random: (max: number) => number },
): Promise<number[][]> {
  const times = operations.map(() => [] as number[]);
  for (let sample = 0; sample < samples; sample++) {
    const order = operations.map((_, index) => index);
    for (let last = order.length - 1; last > 0; last--) {
      const other = random(last + 1);
      [order[last], order[other]] = [order[other]!, order[last]!];
    }
    for (const index of order) {
      const started = performance.now();
      await operations[index]!(sample);
      times[index]!.push(performance.now() - started);
    }
  }
  return times;
}

/** The absolute value of Welch's t. */
export function welchT(first: number[], second: number[]): number {
  const bound = [...first, ...second].sort((a, b) => a - b)[Math.floor((first.length + second.length) * KEPT_SHARE)]!;
  const [a, b] = [first, second].map((times) => summarize(times.filter((time) => time <= bound)));
  return Math.abs(a!.mean - b!.mean) / Math.sqrt(a!.variance / a!.count + b!.variance / b!.count);
}

function summarize(values: number[]): { count: number; mean: number; variance: number } {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  return { count, mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1) };
}
