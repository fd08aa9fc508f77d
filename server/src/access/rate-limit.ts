// How much a tenant and a key may ask for: requests and runs a minute, runs that are open, callers that wait. What a
// tenant's or a key's own `limits` say goes before the settings. Rates are token buckets that hold a minute's worth.
import { z } from "zod";
import { type TokenBucket, takeTokens } from "../db/access/token-buckets.ts";
import type { Database } from "../db/connect.ts";
import type { Caller, OpenRunLimits } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import { createLocalTokenBucket, type LocalTokenBucket } from "./token-bucket.ts";

const rate = (most: number, says: string) => z.coerce.number().min(0).default(most).describe(`${says}; 0: no limit`);

export const RateLimitEnv = z.object({
  TENANT_REQUESTS_PER_MINUTE: rate(120_000, "Requests per minute of one tenant"),
  TENANT_RUNS_PER_MINUTE: rate(60_000, "New runs per minute of one tenant"),
  KEY_REQUESTS_PER_MINUTE: rate(0, "Requests per minute with one key"),
  KEY_RUNS_PER_MINUTE: rate(0, "New runs per minute with one key"),
  TENANT_OPEN_RUNS: rate(0, "Open runs of one tenant at a time"),
  TENANT_WAITERS: rate(
    100,
    "Concurrent requests of one tenant that may wait for a run, per process; further requests get 202 at once",
  ),
  WAITERS: rate(1000, "Concurrent requests that may wait for a run, per process, of all tenants"),
  TENANT_STREAMS: rate(1000, "Open event streams of one tenant, per process; further streams get 429"),
  STREAMS: rate(5000, "Open event streams, per process, of all tenants"),
});

type RateLimitKind = "requests" | "runs";
type RateLimitPolicy = TokenBucket & { policy: string; kind: RateLimitKind };
export type RateLimiter = {
  /** Counts a request, or a run. Throws when that would be too many; answers how to take it back. */
  consume(caller: Caller, kind: RateLimitKind): Promise<() => void>;
  /** What may be asked for, and what is left of it, as the two headers say it. Undefined: nothing is limited. */
  headers(caller: Caller): { policy: string; left: string } | undefined;
  /** How many runs may be open, of the tenant and of the key. */
  openRunLimits(caller: Caller): OpenRunLimits;
};

const MINUTE = 60;
const RETURN_IDLE_INTERVAL_MS = 500;

const readLimit = (limits: Record<string, unknown>, name: string): number | undefined => {
  const value = limits[name];
  return typeof value === "number" && value >= 0 ? value : undefined;
};

export function createRateLimiter(db: Database, env: z.output<typeof RateLimitEnv>): RateLimiter {
  const slices = new Map<string, { rule: RateLimitPolicy; slice: LocalTokenBucket }>();

  const ruleOf = (kind: RateLimitKind, whose: "tenant" | "key", caller: Caller): RateLimitPolicy[] => {
    const isKey = whose === "key";
    const own = isKey ? caller.limits : caller.tenant.limits;
    const usual = env[`${isKey ? "KEY" : "TENANT"}_${kind === "runs" ? "RUNS" : "REQUESTS"}_PER_MINUTE`];
    const most = readLimit(own, `${kind}_per_minute`) ?? usual;
    if (most === 0 || (isKey && caller.key_id === null)) return [];
    const id = isKey ? caller.key_id : caller.tenant_id;
    const policy = isKey ? `key-${kind}` : kind;
    return [{ name: `${id}/${kind}`, capacity: most, perSecond: most / MINUTE, policy, kind }];
  };
  const rulesOf = (caller: Caller): RateLimitPolicy[] =>
    (["requests", "runs"] as const).flatMap((kind) => [
      ...ruleOf(kind, "tenant", caller),
      ...ruleOf(kind, "key", caller),
    ]);
  const sliceOf = (rule: RateLimitPolicy): LocalTokenBucket => {
    const known = slices.get(rule.name);
    // Another figure is another bucket for us; in the database it stays the same one.
    if (known?.rule.capacity === rule.capacity) return known.slice;
    const slice = createLocalTokenBucket(rule, (bucket, amount) => takeTokens(db, bucket, amount));
    slices.set(rule.name, { rule, slice });
    return slice;
  };

  const openRunsOf = ({ tenant, limits }: Caller) => ({
    tenant: (readLimit(tenant.limits, "open_runs") ?? env.TENANT_OPEN_RUNS) || undefined,
    key: readLimit(limits, "open_runs") || undefined,
  });

  const tidy = () =>
    Promise.all(
      [...slices].map(async ([name, { slice }]) => {
        if (await slice.returnIdleTokens().catch(() => false)) slices.delete(name);
      }),
    );
  setInterval(() => void tidy(), RETURN_IDLE_INTERVAL_MS).unref();

  return {
    async consume(caller, kind) {
      const taken: LocalTokenBucket[] = [];
      const giveBack = () => {
        for (const slice of taken) slice.refund();
      };
      for (const rule of rulesOf(caller).filter((each) => each.kind === kind)) {
        const slice = sliceOf(rule);
        if (!(await slice.take())) {
          giveBack();
          throw rateLimitedFault(rule, slice.state().seconds);
        }
        taken.push(slice);
      }
      return giveBack;
    },
    headers(caller) {
      const rules = rulesOf(caller);
      const openRuns = openRunsOf(caller);
      const isOpen = openRuns.tenant === undefined && openRuns.key === undefined;
      if (rules.length === 0 && isOpen) return undefined;
      const policies = rules.map(({ policy, capacity: most }) => `"${policy}";q=${most};w=${MINUTE}`);
      if (openRuns.tenant) policies.push(`"open-runs";q=${openRuns.tenant};qu="concurrent-requests"`);
      if (openRuns.key) policies.push(`"key-open-runs";q=${openRuns.key};qu="concurrent-requests"`);
      const left = rules.flatMap((rule) => {
        const known = slices.get(rule.name);
        if (!known) return [];
        const { remaining, seconds } = known.slice.state();
        return [`"${rule.policy}";r=${remaining};t=${seconds}`];
      });
      return { policy: policies.join(", "), left: left.join(", ") };
    },
    openRunLimits: openRunsOf,
  };
}

/** A little later for some than for others, so that those who were refused together do not come back together. */
function rateLimitedFault({ policy }: RateLimitPolicy, seconds: number): Fault {
  const retry_after = seconds + Math.floor(Math.random() * Math.max(2, seconds / 4));
  return new Fault("rate_limited", { policy, retry_after });
}
