// Limits sign-ins at the console per client address, within any minute: 5 that failed, whatever was tried, and 60 in
// all, so that a valid key cannot fill the audit log. Counts per process.
import { Fault } from "../faults.ts";
import type { Clock } from "../kit/clock.ts";

const WINDOW_MS = 60_000;
const MAX_FAILURES = 5;
const MAX_ATTEMPTS = 60;
const MAX_ADDRESSES = 10_000;

export type SignInLimit = {
  /**
   * Counts an attempt, or throws rate_limited. Concurrent attempts count before their result is known. Returns a
   * function that takes the attempt back, for a sign-in that succeeded.
   */
  begin(address: string): () => void;
};

export function createSignInLimit(clock: Pick<Clock, "monotonic">): SignInLimit {
  const [failures, attempts] = [createAttemptWindow(clock, MAX_FAILURES), createAttemptWindow(clock, MAX_ATTEMPTS)];
  return {
    begin(address) {
      const retry_after = Math.max(failures.secondsUntilAllowed(address), attempts.secondsUntilAllowed(address));
      if (retry_after > 0) throw new Fault("rate_limited", { policy: "sign-in", retry_after });
      attempts.record(address);
      return failures.record(address);
    },
  };
}

function createAttemptWindow(clock: Pick<Clock, "monotonic">, max: number) {
  const times = new Map<string, number[]>();
  const recentOf = (address: string) => (times.get(address) ?? []).filter((at) => clock.monotonic() - at < WINDOW_MS);
  return {
    secondsUntilAllowed(address: string): number {
      const recent = recentOf(address);
      if (recent.length < max) return 0;
      return Math.max(1, Math.ceil((recent[0]! + WINDOW_MS - clock.monotonic()) / 1000));
    },
    /** Returns a function that takes the record back. */
    record(address: string): () => void {
      const now = clock.monotonic();
      const recent = recentOf(address);
      times.delete(address);
      times.set(address, [...recent, now]);
      if (times.size > MAX_ADDRESSES) times.delete(times.keys().next().value!);
      return () => {
        const kept = times.get(address) ?? [];
        const at = kept.indexOf(now);
        if (at >= 0) times.set(address, kept.toSpliced(at, 1));
      };
    },
  };
}
