// Judges whether times in PostgreSQL say anything about living processes now. While PostgreSQL is away no process can
// renew a lease or a claim, and when its clock is set they expire at once: in both cases they say nothing about their
// holders. A holder that lives renews them within the grace that begins when PostgreSQL is back, or when the times of
// open runs have been shifted with its clock. Until then no holder counts as lost.
import type { TimeAnswer } from "../../db/database-time.ts";
import type { Clock } from "../../runtime/clock.ts";

/** What PostgreSQL answered to a statement that was sent at this time of the monotonic clock. */
export type DatabaseAnswer = TimeAnswer & { sentAt: number };

export type DatabaseSteadiness = {
  observe(answer: DatabaseAnswer): void;
  /** Milliseconds by which PostgreSQL's clock was set and the times of open runs were not shifted yet. */
  jumpMs(): number;
  shifted(): void;
  isSteady(): boolean;
};

/** Workers report every second. After this time without an answer, PostgreSQL was away. */
const AWAY_MS = 5000;
/** A clock that is corrected slowly never changes by this much from one answer to the next. */
const JUMP_MS = 5000;

/** `graceSeconds`: how long a living process needs to renew what it holds. */
export function createDatabaseSteadiness(clock: Pick<Clock, "monotonic">, graceSeconds: number): DatabaseSteadiness {
  let answeredAt = Number.NEGATIVE_INFINITY;
  let steadyFrom: number | undefined;
  /** How far PostgreSQL's clock is ahead of the monotonic one: at least, and at most, because answers take time. */
  let lead: { min: number; max: number } | undefined;
  let jump = 0;
  const beginGrace = (seconds = graceSeconds) => {
    steadyFrom = Math.max(steadyFrom ?? 0, clock.monotonic() + seconds * 1000);
  };
  return {
    observe({ sentAt, up_seconds, time_ms }) {
      const now = clock.monotonic();
      // This process may have just started, so an outage that it did not see may have just ended.
      if (now - answeredAt > AWAY_MS) beginGrace();
      if (up_seconds < graceSeconds) beginGrace(graceSeconds - up_seconds);
      const found = { min: time_ms - now, max: time_ms - sentAt };
      const change = lead && (found.min > lead.max ? found.min - lead.max : Math.min(0, found.max - lead.min));
      if (change && Math.abs(change) > JUMP_MS) {
        jump += change;
        beginGrace();
      }
      lead = found;
      answeredAt = now;
    },
    jumpMs: () => jump,
    shifted() {
      jump = 0;
      beginGrace();
    },
    isSteady() {
      const now = clock.monotonic();
      return jump === 0 && steadyFrom !== undefined && now >= steadyFrom && now - answeredAt <= AWAY_MS;
    },
  };
}
