// Limits lookups of unknown API keys per client address, so that guessing keys costs the attacker time and the database
// nothing. Counts per process.
import type { Clock } from "../../runtime/clock.ts";

const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;

export type UnknownKeyLimit = {
  /** Seconds until this address may try again; 0 if it may now. */
  secondsUntilAllowed(address: string): number;
  recordUnknownKey(address: string): void;
};

/** `perMinute` 0: no limit. Each address has a bucket of a minute's attempts, which refills steadily. */
export function createUnknownKeyLimit(perMinute: number, clock: Pick<Clock, "monotonic">): UnknownKeyLimit {
  const attempts = new Map<string, { count: number; at: number }>();
  const perMs = perMinute / MINUTE_MS;
  const countOf = (address: string) => {
    const entry = attempts.get(address);
    return entry ? Math.max(0, entry.count - (clock.monotonic() - entry.at) * perMs) : 0;
  };
  return {
    secondsUntilAllowed(address) {
      if (perMinute === 0) return 0;
      const excess = countOf(address) - (perMinute - 1);
      return excess <= 0 ? 0 : Math.ceil(excess / perMs / 1000);
    },
    recordUnknownKey(address) {
      const count = countOf(address) + 1;
      attempts.delete(address);
      attempts.set(address, { count, at: clock.monotonic() });
      if (attempts.size > MAX_ADDRESSES) attempts.delete(attempts.keys().next().value!);
    },
  };
}
