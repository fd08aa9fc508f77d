// Load shedding. While event-loop lag or the wait for a database connection has stayed above SHED_MS for a whole
// second, new work is refused before its body is read: first that of tenants with many requests in flight, and none of
// a tenant whose own queries do not wait. Accepted work continues and reads are served.
import { z } from "zod";
import { Fault } from "../faults/faults.ts";
import type { Clock, Random } from "../runtime/clock.ts";

export const LoadSheddingEnv = z.object({
  SHED_MS: z.coerce
    .number()
    .min(0)
    .default(1000)
    .describe(
      "Load shedding: refuse new work when event-loop or database wait stays above this many milliseconds for one second; 0: never",
    ),
});

const SAMPLE_MS = 50;
const OVERLOAD_AFTER_MS = 1000;
/**
 * Under load, active tenants share this many requests in flight, so that one tenant cannot take the share of another.
 */
const MAX_IN_FLIGHT_UNDER_LOAD = 16;

/** How long the oldest query has waited for a database connection, in milliseconds: of all, or that delays a tenant. */
type Probe = (tenantId?: string) => number;

export type LoadShedder = {
  /**
   * Throws service_overloaded if the tenant has used its share under load. Returns a function that ends the request.
   */
  begin(tenantId: string): () => void;
  isOverloaded(): boolean;
};

type Dependencies = { clock: Pick<Clock, "monotonic" | "every">; random: Random };

export function createLoadShedder(shedMs: number, databaseWaitMs: Probe, { clock, random }: Dependencies): LoadShedder {
  const inFlightByTenant = new Map<string, number>();
  let calmAt = clock.monotonic();
  let sampledAt = clock.monotonic();
  let lagMs = 0;
  /** A single slow sample, such as a garbage collection, is ignored: two in a row are needed. */
  let highSamples = 0;

  const sample = () => {
    const now = clock.monotonic();
    lagMs = now - sampledAt - SAMPLE_MS;
    sampledAt = now;
    const isCalm = Math.max(lagMs, databaseWaitMs()) < shedMs;
    highSamples = isCalm ? 0 : highSamples + 1;
    if (isCalm) calmAt = now;
  };
  clock.every(SAMPLE_MS, sample).unref();
  const isOverloaded = () => shedMs > 0 && highSamples > 1 && clock.monotonic() - calmAt > OVERLOAD_AFTER_MS;

  return {
    isOverloaded,
    begin(tenantId) {
      const own = inFlightByTenant.get(tenantId) ?? 0;
      const share = Math.max(1, Math.floor(MAX_IN_FLIGHT_UNDER_LOAD / Math.max(1, inFlightByTenant.size)));
      const isDelayed = () => Math.max(lagMs, databaseWaitMs(tenantId)) >= shedMs;
      if (isOverloaded() && own >= share && isDelayed()) throw overloadedFault(random);
      inFlightByTenant.set(tenantId, own + 1);
      let hasEnded = false;
      return () => {
        if (hasEnded) return;
        hasEnded = true;
        const left = (inFlightByTenant.get(tenantId) ?? 1) - 1;
        if (left === 0) inFlightByTenant.delete(tenantId);
        else inFlightByTenant.set(tenantId, left);
      };
    },
  };
}

/** retry_after has a random part, so that clients refused at the same time do not retry at the same time. */
const overloadedFault = (random: Random) =>
  new Fault("service_overloaded", { retry_after: 1 + Math.floor(random() * 4) });
