// Time, randomness and ids as capabilities: they are handed in from outside, so that a test decides them.

export type Clock = {
  /** Wall clock, in milliseconds since 1970. Use it for times that are stored, signed or shown. */
  now(): number;
  /** Milliseconds that never go backwards. Use it for durations and timeouts. */
  monotonic(): number;
};

/** Returns a number from 0 up to, and not including, 1. */
export type Random = () => number;

export type Ids = {
  /** Returns a new UUIDv7. */
  next(): string;
};
