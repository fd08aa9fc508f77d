// Repeats what failed, with exponential back-off. Time and randomness are handed in.
import type { Clock, Random } from "./clock.ts";

/** With `random`, a delay is half to one and a half of its time, so that many processes do not retry at once. */
export type Backoff = { firstMs: number; maxMs: number; random?: Random };

/** The delay after this number of earlier failures. */
export const backoffMs = ({ firstMs, maxMs, random }: Backoff, failures: number): number =>
  Math.min(firstMs * 2 ** failures, maxMs) * (random ? 0.5 + random() : 1);

export type RetryOptions = {
  clock: Pick<Clock, "sleep">;
  while(thrown: unknown): boolean;
  delayMs(thrown: unknown, failures: number): number;
  /** After the delay. Throws to give up. */
  beforeRetry?(): Promise<void>;
  /** Ends the retries, also during a delay: its reason is thrown. */
  signal?: AbortSignal;
};

/** Repeats `work` until it succeeds, or fails in another way than `while` says. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, delayMs, signal } = options;
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (thrown) {
      if (!options.while(thrown)) throw thrown;
      await clock.sleep(delayMs(thrown, failures), signal).catch(() => undefined);
    }
    signal?.throwIfAborted();
    await options.beforeRetry?.();
  }
}
