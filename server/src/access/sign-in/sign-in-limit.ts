// Limits sign-ins at the console within any minute: 5 that failed per client address, and 60 that succeeded per member,
// so that a valid key cannot fill the audit log. Counts per process.
import type { ResourceOwner } from "../../db/access/caller.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";

const WINDOW_MS = 60_000;
const MAX_FAILURES = 5;
const MAX_SIGN_INS = 60;
const MAX_NAMES = 10_000;

export type SignInLimit = {
  /**
   * Counts a failure of this address, or throws rate_limited. Called before a one-time code is tried, so that
   * concurrent guesses count too: the function that it returns takes the failure back. Called only after an API key
   * turned out to be wrong: a valid key is never refused, although others at the same address, such as that of a proxy,
   * try wrong ones. A key cannot be guessed.
   */
  countFailure(address: string): () => void;
  /** Counts a sign-in of this member, or throws rate_limited. */
  countSignIn(member: ResourceOwner): void;
};

export function createSignInLimit(clock: Pick<Clock, "monotonic">): SignInLimit {
  const [failures, signIns] = [createAttemptWindow(clock, MAX_FAILURES), createAttemptWindow(clock, MAX_SIGN_INS)];
  return {
    countFailure: failures.count,
    countSignIn: ({ tenant_id, user_id }) => void signIns.count(`${tenant_id} ${user_id}`),
  };
}

function createAttemptWindow(clock: Pick<Clock, "monotonic">, max: number) {
  const times = new Map<string, number[]>();
  return {
    /** Returns a function that takes the attempt back. */
    count(name: string): () => void {
      const now = clock.monotonic();
      const recent = (times.get(name) ?? []).filter((at) => now - at < WINDOW_MS);
      const retry_after = Math.max(1, Math.ceil(((recent[0] ?? now) + WINDOW_MS - now) / 1000));
      if (recent.length >= max) throw new Fault("rate_limited", { policy: "sign-in", retry_after });
      times.delete(name);
      times.set(name, [...recent, now]);
      if (times.size > MAX_NAMES) times.delete(times.keys().next().value!);
      return () => {
        const kept = times.get(name) ?? [];
        const at = kept.indexOf(now);
        if (at >= 0) times.set(name, kept.toSpliced(at, 1));
      };
    },
  };
}
