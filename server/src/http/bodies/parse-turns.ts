// Shares the event loop between tenants that send large JSON bodies. Parsing and validating one blocks all other
// requests, so each tenant parses one at a time, and while other tenants are active it pauses after each: a tenant gets
// at most a fifth of the time. A tenant that is alone never pauses.
import type { Clock } from "../../runtime/clock.ts";

/** Smaller bodies take no turns: they are parsed within a millisecond or two. */
export const MIN_PACED_BYTES = 64 * 1024;

/** The pause after a body, as a multiple of the time that parsing it took. */
const PAUSE_FACTOR = 4;
/** How long after its last request a tenant counts as active. */
const ACTIVE_MS = 1000;

export type ParseTurns = {
  /** Notes that a request of this tenant has arrived. */
  recordActivity(tenantId: string): void;
  /** Resolves when the tenant may parse a body. Returns a function that ends the turn; it is idempotent. */
  begin(tenantId: string): Promise<() => void>;
};

type Turn = { ended: Promise<void>; pauseUntil: number };

export function createParseTurns(clock: Pick<Clock, "monotonic" | "sleep" | "after">): ParseTurns {
  /** The last turn of each tenant that has begun or waits. */
  const lastTurns = new Map<string, Turn>();
  let latest = { tenantId: "", at: Number.NEGATIVE_INFINITY };
  /** The latest request of another tenant than that of `latest`. */
  let previous = latest;

  const areOthersActive = (tenantId: string) => {
    const other = latest.tenantId === tenantId ? previous : latest;
    return clock.monotonic() - other.at < ACTIVE_MS;
  };

  return {
    recordActivity(tenantId) {
      if (latest.tenantId !== tenantId) previous = latest;
      latest = { tenantId, at: clock.monotonic() };
    },
    async begin(tenantId) {
      const { promise: ended, resolve: markEnded } = Promise.withResolvers<void>();
      const before = lastTurns.get(tenantId);
      const turn: Turn = { ended, pauseUntil: 0 };
      lastTurns.set(tenantId, turn);
      await before?.ended;
      const pauseMs = (before?.pauseUntil ?? 0) - clock.monotonic();
      if (pauseMs > 0 && areOthersActive(tenantId)) await clock.sleep(pauseMs);
      const startedAt = clock.monotonic();
      let hasEnded = false;
      return () => {
        if (hasEnded) return;
        hasEnded = true;
        const now = clock.monotonic();
        turn.pauseUntil = now + PAUSE_FACTOR * (now - startedAt);
        // The pause outlives the turn, unless the next turn has taken it over.
        const forget = () => void (lastTurns.get(tenantId) === turn && lastTurns.delete(tenantId));
        clock.after(turn.pauseUntil - now, forget).unref();
        markEnded();
      };
    },
  };
}
