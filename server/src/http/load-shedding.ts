// Load shedding. While event-loop lag or the wait for a database connection has stayed above SHED_MS for a whole second, new work
// is refused before its body is read. Accepted work continues and reads are served.
import { z } from "zod";
import { Fault } from "../faults.ts";

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
/** Under pressure a tenant may have its share of so many requests under way; the others' share is not touched. */
const MAX_IN_FLIGHT_UNDER_LOAD = 16;

/** How long the oldest question to the database has waited for a connection, in milliseconds. */
type Probe = () => number;

export type LoadShedder = {
  /** Throws when there is pressure and this tenant has had its share. Otherwise answers how to say that it is over. */
  begin(tenantId: string): () => void;
  isOverloaded(): boolean;
};

export function createLoadShedder(shedMs: number, databaseWaitMs: Probe): LoadShedder {
  const underWay = new Map<string, number>();
  let calmAt = performance.now();
  let sampledAt = performance.now();
  /** A single slow sample (a garbage collection, say) is ignored: two in a row are needed. */
  let highSamples = 0;

  const sample = () => {
    const now = performance.now();
    const lagMs = now - sampledAt - SAMPLE_MS;
    sampledAt = now;
    const isCalm = Math.max(lagMs, databaseWaitMs()) < shedMs;
    highSamples = isCalm ? 0 : highSamples + 1;
    if (isCalm) calmAt = now;
  };
  setInterval(sample, SAMPLE_MS).unref();
  const isHigh = () => shedMs > 0 && highSamples > 1 && performance.now() - calmAt > OVERLOAD_AFTER_MS;

  return {
    isOverloaded: isHigh,
    begin(tenantId) {
      const own = underWay.get(tenantId) ?? 0;
      const share = Math.max(1, Math.floor(MAX_IN_FLIGHT_UNDER_LOAD / Math.max(1, underWay.size)));
      if (isHigh() && own >= share) throw overloaded();
      underWay.set(tenantId, own + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (underWay.get(tenantId) ?? 1) - 1;
        if (left === 0) underWay.delete(tenantId);
        else underWay.set(tenantId, left);
      };
    },
  };
}

/** Spread, so that those who were turned away together do not come back together. */
const overloaded = () => new Fault("service_overloaded", { retry_after: 1 + Math.floor(Math.random() * 4) });
