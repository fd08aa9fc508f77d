// Limits failed sign-ins at the console per client address: 5 within any minute, whatever was tried. Counts per
// process.
import { Fault } from "../faults.ts";
import type { Clock } from "../kit/clock.ts";

const WINDOW_MS = 60_000;
const MAX_FAILURES = 5;
const MAX_ADDRESSES = 10_000;

export type SignInLimit = {
  /**
   * Counts an attempt, or throws rate_limited. Concurrent attempts count before their result is known. Returns a
   * function that takes the attempt back, for a sign-in that succeeded.
   */
  begin(address: string): () => void;
};

export function createSignInLimit(clock: Pick<Clock, "monotonic">): SignInLimit {
  const attempts = new Map<string, number[]>();
  return {
    begin(address) {
      const now = clock.monotonic();
      const recent = (attempts.get(address) ?? []).filter((at) => now - at < WINDOW_MS);
      if (recent.length >= MAX_FAILURES) {
        const retry_after = Math.max(1, Math.ceil((recent[0]! + WINDOW_MS - now) / 1000));
        throw new Fault("rate_limited", { policy: "sign-in", retry_after });
      }
      attempts.delete(address);
      attempts.set(address, [...recent, now]);
      if (attempts.size > MAX_ADDRESSES) attempts.delete(attempts.keys().next().value!);
      return () => {
        const kept = attempts.get(address) ?? [];
        const at = kept.indexOf(now);
        if (at >= 0) attempts.set(address, kept.toSpliced(at, 1));
      };
    },
  };
}
