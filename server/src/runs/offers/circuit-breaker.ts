// The circuit breaker: an offer that fails repeatedly is not used by any process until a pause is over, then tried with
// one job. An operator can pause all offers of a provider. The state is in PostgreSQL; each process reads it at most
// every 500 ms.

import {
  ALL_OFFERS,
  type CircuitBreakerPolicy,
  type CircuitBreakerRow,
  claimProbe,
  listCircuitBreakers,
  recordOfferFailure,
  recordOfferSuccess,
} from "../../db/attempts/circuit-breakers.ts";
import type { Database } from "../../db/connect.ts";
import type { SelectedOffer } from "../../providers/provider.ts";
import type { Clock } from "../../runtime/clock.ts";

const CACHE_MS = 500;
/** A probe without a result for this long counts as lost; another process may probe. */
const PROBE_SECONDS = 30;
/** How long a request waits before it looks again whether its provider is paused. */
const PAUSED_SECONDS = 15;

export type CircuitBreaker = {
  /** Seconds until the offer may be tried: 0 if the circuit is closed, or if the pause is over and a probe is due. */
  openForSeconds(offer: SelectedOffer): number;
  /** Whether the caller may send now. When a probe is due, only one caller gets true. */
  tryAcquire(offer: SelectedOffer): Promise<boolean>;
  recordSuccess(offer: SelectedOffer): Promise<void>;
  recordFailure(offer: SelectedOffer): Promise<void>;
};

export function createCircuitBreaker(database: Database, policy: CircuitBreakerPolicy, clock: Clock): CircuitBreaker {
  let rows = new Map<string, CircuitBreakerRow & { readAt: number }>();
  let readAt = Number.NEGATIVE_INFINITY;
  let writes = 0;
  const offerKey = ({ provider, upstreamModel }: SelectedOffer) => `${provider} ${upstreamModel}`;
  const rowKey = ({ provider, upstream }: CircuitBreakerRow) => offerKey({ provider, upstreamModel: upstream });
  const withReadTime = (row: CircuitBreakerRow) => ({ ...row, readAt: clock.monotonic() });

  /** Starts a read in the background if the cached state is older than 500 ms; the caller does not wait for it. */
  const refresh = () => {
    if (clock.monotonic() - readAt < CACHE_MS) return;
    readAt = clock.monotonic();
    const writesBefore = writes;
    void listCircuitBreakers(database).then(
      (read) => {
        // A write of this process during the read is newer than the read.
        if (writes === writesBefore) rows = new Map(read.map((row) => [rowKey(row), withReadTime(row)]));
      },
      () => {},
    );
  };
  const isPaused = ({ provider }: SelectedOffer) => rows.has(offerKey({ provider, upstreamModel: ALL_OFFERS }));
  const findOpenCircuit = (offer: SelectedOffer) => {
    refresh();
    if (isPaused(offer)) return { seconds: PAUSED_SECONDS };
    const row = rows.get(offerKey(offer));
    if (!row || row.open_seconds === null) return undefined;
    return { seconds: row.open_seconds - (clock.monotonic() - row.readAt) / 1000 };
  };

  return {
    openForSeconds: (offer) => Math.max(0, findOpenCircuit(offer)?.seconds ?? 0),
    async tryAcquire(offer) {
      const openCircuit = findOpenCircuit(offer);
      if (!openCircuit) return true;
      return openCircuit.seconds <= 0 && claimProbe(database, offer.provider, offer.upstreamModel, PROBE_SECONDS);
    },
    async recordSuccess(offer) {
      refresh();
      if (!rows.delete(offerKey(offer))) return;
      writes++;
      await recordOfferSuccess(database, offer.provider, offer.upstreamModel);
    },
    async recordFailure(offer) {
      const row = await recordOfferFailure(database, offer.provider, offer.upstreamModel, policy);
      writes++;
      rows.set(offerKey(offer), withReadTime(row));
    },
  };
}
