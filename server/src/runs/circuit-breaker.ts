// The circuit breaker: an offer that keeps failing is left alone for a while, by every process, and then tried with one job.

import type { Database } from "../db/connect.ts";
import {
  type CircuitBreakerPolicy,
  type CircuitBreakerRow,
  claimProbe,
  listCircuitBreakers,
  recordOfferFailure,
  recordOfferSuccess,
} from "../db/runs/circuit-breakers.ts";
import type { SelectedOffer } from "../providers/provider.ts";

const CACHE_MS = 500;
/** A trial that is not heard of again for this long has died; somebody else may try. */
const PROBE_SECONDS = 30;

export type CircuitBreaker = {
  /** Seconds until the offer may be tried: 0 where it is in order, or where its time has come and a trial is needed. */
  openForSeconds(offer: SelectedOffer): number;
  /** Whether this caller may send now. Where the offer is on trial, only one may. */
  tryAcquire(offer: SelectedOffer): Promise<boolean>;
  recordSuccess(offer: SelectedOffer): Promise<void>;
  recordFailure(offer: SelectedOffer): Promise<void>;
};

export function createCircuitBreaker(db: Database, policy: CircuitBreakerPolicy): CircuitBreaker {
  let rows = new Map<string, CircuitBreakerRow & { readAt: number }>();
  let readAt = 0;
  let writes = 0;
  const offerKey = ({ provider, upstreamModel }: SelectedOffer) => `${provider} ${upstreamModel}`;
  const withReadTime = (row: CircuitBreakerRow) => ({ ...row, readAt: performance.now() });

  /** Reading is cheap and its answer may be half a second old: nobody waits for it. */
  const refresh = () => {
    if (performance.now() - readAt < CACHE_MS) return;
    readAt = performance.now();
    const before = writes;
    void listCircuitBreakers(db).then(
      (read) => {
        // What was written meanwhile is newer than what was read.
        if (writes === before)
          rows = new Map(
            read.map((row) => [offerKey({ provider: row.provider, upstreamModel: row.upstream }), withReadTime(row)]),
          );
      },
      () => {},
    );
  };
  const findOpenCircuit = (offer: SelectedOffer) => {
    refresh();
    const row = rows.get(offerKey(offer));
    if (!row || row.open_seconds === null) return undefined;
    return { seconds: row.open_seconds - (performance.now() - row.readAt) / 1000 };
  };

  return {
    openForSeconds: (offer) => Math.max(0, findOpenCircuit(offer)?.seconds ?? 0),
    async tryAcquire(offer) {
      const openCircuit = findOpenCircuit(offer);
      if (!openCircuit) return true;
      return openCircuit.seconds <= 0 && claimProbe(db, offer.provider, offer.upstreamModel, PROBE_SECONDS);
    },
    async recordSuccess(offer) {
      refresh();
      if (!rows.delete(offerKey(offer))) return;
      writes++;
      await recordOfferSuccess(db, offer.provider, offer.upstreamModel);
    },
    async recordFailure(offer) {
      const row = await recordOfferFailure(db, offer.provider, offer.upstreamModel, policy);
      writes++;
      rows.set(offerKey(offer), withReadTime(row));
    },
  };
}
