// Judges whether times in PostgreSQL say anything about living processes now. While PostgreSQL is away no process can
// renew a lease or a claim, so those that expired meanwhile say nothing about their holders: a holder that lives renews
// them within the grace that begins when PostgreSQL is back. Until then no holder counts as lost.
import type { Clock } from "../kit/clock.ts";

/** `upSeconds`: how long PostgreSQL has been running. */
export type DatabaseAnswer = { upSeconds: number };

export type DatabaseSteadiness = {
  observe(answer: DatabaseAnswer): void;
  isSteady(): boolean;
};

/** Workers report every second. After this time without an answer, PostgreSQL was away. */
const AWAY_MS = 5000;

/** `graceSeconds`: how long a living process needs to renew what it holds. */
export function createDatabaseSteadiness(clock: Pick<Clock, "monotonic">, graceSeconds: number): DatabaseSteadiness {
  let answeredAt = Number.NEGATIVE_INFINITY;
  let steadyFrom = Number.POSITIVE_INFINITY;
  return {
    observe({ upSeconds }) {
      const now = clock.monotonic();
      // This process may have just started, so an outage that it did not see may have just ended.
      if (now - answeredAt > AWAY_MS) steadyFrom = now + graceSeconds * 1000;
      if (upSeconds < graceSeconds) steadyFrom = Math.max(steadyFrom, now + (graceSeconds - upSeconds) * 1000);
      answeredAt = now;
    },
    isSteady() {
      const now = clock.monotonic();
      return now >= steadyFrom && now - answeredAt <= AWAY_MS;
    },
  };
}
