// Fault injection: decides which POSTs get an error and which responses are dropped. Counted faults are counted per
// prompt.
import type { Behaviour } from "./behaviour.ts";
import { hash32 } from "./drawing/seeded-random.ts";

type PostDecision =
  | { kind: "pass" }
  | { kind: "lost" }
  | { kind: "refused"; status: 422 | 429 | 500 | 503; code: string; message: string };

export type FaultInjector = {
  decidePost(prompt: string, behaviour: Behaviour): PostDecision;
  dropsResponse(prompt: string, behaviour: Behaviour, jobId: string): boolean;
  /** Counts restart when the default behaviour is set. */
  reset(): void;
};

const INJECTED_ERRORS = [
  { name: "busy", status: 429, code: "rate_limited", message: "Too many requests." },
  { name: "unavailable", status: 503, code: "unavailable", message: "The service is unavailable." },
  { name: "error", status: 500, code: "internal", message: "Internal server error." },
] as const;

export const createFaultInjector = (): FaultInjector => {
  const counts = new Map<string, number>();

  /** True for the first `limit` times that this fault applies to this prompt. */
  const isAmongFirst = (name: string, prompt: string, limit: number): boolean => {
    if (limit === 0) return false;
    const key = `${name} ${prompt}`;
    const count = counts.get(key) ?? 0;
    if (count >= limit) return false;
    counts.set(key, count + 1);
    return true;
  };

  return {
    decidePost: (prompt, behaviour) => {
      if (behaviour.reject) {
        return {
          kind: "refused",
          status: 422,
          code: "invalid_parameters",
          message: "Rejected by the sandbox directive reject.",
        };
      }
      for (const { name, ...refusal } of INJECTED_ERRORS) {
        if (isAmongFirst(name, prompt, behaviour[name] ?? 0)) return { kind: "refused", ...refusal };
      }
      const lost = isAmongFirst("drop_before", prompt, Number(behaviour.drop_before ?? 0));
      return { kind: lost ? "lost" : "pass" };
    },
    dropsResponse: (prompt, { drop, drop_rate }, jobId) => {
      if (drop === true) return true;
      if (isAmongFirst("drop", prompt, Number(drop ?? 0))) return true;
      // Decided by the ID, so that a campaign can be checked from the ledger alone.
      return drop_rate !== undefined && hash32(jobId) / 4294967296 < drop_rate;
    },
    reset: () => counts.clear(),
  };
};
