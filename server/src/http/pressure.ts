// When this process has more to do than it can, new work is turned away before its body is read, so that what was accepted
// goes on and reads are answered. Pressure is a queue that stands: one that does not empty for a whole second.
import { z } from "zod";
import { Fault } from "../faults.ts";

export const PressureEnv = z.object({
  SHED_MS: z.coerce
    .number()
    .min(0)
    .default(1000)
    .describe("New work is turned away when everything waits longer than this for a whole second; 0: never"),
});

const SAMPLE_MS = 50;
const STANDING_MS = 1000;
/** Under pressure a tenant may have its share of so many requests under way; the others' share is not touched. */
const UNDER_WAY = 16;

/** How long the oldest question to the database has waited for a connection, in milliseconds. */
type Probe = () => number;

export type Pressure = {
  /** Throws when there is pressure and this tenant has had its share. Otherwise answers how to say that it is over. */
  enter(tenantId: string): () => void;
  isHigh(): boolean;
};

export function createPressure(shedMs: number, databaseWaitMs: Probe): Pressure {
  const underWay = new Map<string, number>();
  let calmAt = performance.now();
  let sampledAt = performance.now();
  /** One long pause is none: only when the next look is no better does anything stand. */
  let bad = 0;

  const sample = () => {
    const now = performance.now();
    const lagMs = now - sampledAt - SAMPLE_MS;
    sampledAt = now;
    const isCalm = Math.max(lagMs, databaseWaitMs()) < shedMs;
    bad = isCalm ? 0 : bad + 1;
    if (isCalm) calmAt = now;
  };
  setInterval(sample, SAMPLE_MS).unref();
  const isHigh = () => shedMs > 0 && bad > 1 && performance.now() - calmAt > STANDING_MS;

  return {
    isHigh,
    enter(tenantId) {
      const own = underWay.get(tenantId) ?? 0;
      const share = Math.max(1, Math.floor(UNDER_WAY / Math.max(1, underWay.size)));
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
