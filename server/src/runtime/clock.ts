// Time, randomness and ids as capabilities: they are handed in from outside, so that a test decides them.

export type Clock = {
  /** Wall clock, in milliseconds since 1970. Use it for times that are stored, signed or shown. */
  now(): number;
  /** Milliseconds that never go backwards. Use it for durations and timeouts. */
  monotonic(): number;
  /** Resolves after this time. Rejects when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `work` once, after this time. */
  after(ms: number, work: () => void): Timer;
  /** Calls `work` whenever this time has passed, until it is stopped. */
  every(ms: number, work: () => void): Timer;
};

/** A timer keeps its process alive while it is pending, unless `unref` was called. Both functions are idempotent. */
export type Timer = { stop(): void; unref(): Timer };

/** Returns a number from 0 up to, and not including, 1. */
export type Random = () => number;

export type Ids = {
  /** Returns a new UUIDv7. */
  next(): string;
};
