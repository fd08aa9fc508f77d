// Rate limits per tenant and per key: requests and runs per minute, and open runs. `limits` of a tenant or key override
// the settings. Rates are token buckets that hold one minute's worth of tokens.
import { z } from "zod";
import type { Caller } from "../db/access/caller.ts";
import { type TokenBucket, takeTokens } from "../db/access/token-buckets.ts";
import type { Database } from "../db/connect.ts";
import type { OpenRunLimits } from "../db/runs/insert-run.ts";
import { Fault } from "../faults.ts";
import type { Clock, Random } from "../kit/clock.ts";
import { createLocalTokenBucket, type LocalTokenBucket, type TakeTokens } from "./token-bucket.ts";

const rate = (max: number, description: string) =>
  z.coerce.number().min(0).default(max).describe(`${description}; 0: no limit`);

export const RateLimitEnv = z.object({
  TENANT_REQUESTS_PER_MINUTE: rate(120_000, "Requests per minute of one tenant"),
  TENANT_RUNS_PER_MINUTE: rate(60_000, "New runs per minute of one tenant"),
  KEY_REQUESTS_PER_MINUTE: rate(0, "Requests per minute with one key"),
  KEY_RUNS_PER_MINUTE: rate(0, "New runs per minute with one key"),
  TENANT_OPEN_RUNS: rate(0, "Open runs of one tenant at a time"),
  TENANT_WAITERS: rate(
    100,
    "Concurrent requests of one tenant that may wait for a run, per process; further requests get 202 at once, those of the OpenAI-compatible API 429",
  ),
  WAITERS: rate(1000, "Concurrent requests that may wait for a run, per process, of all tenants"),
  TENANT_STREAMS: rate(1000, "Open event streams of one tenant, per process; further streams get 429"),
  STREAMS: rate(5000, "Open event streams, per process, of all tenants"),
  ADDRESS_UNKNOWN_KEYS_PER_MINUTE: rate(
    600,
    "Requests per minute with unknown API keys of one client address, per process",
  ),
  ADDRESS_DOWNLOADS: rate(128, "Concurrent file downloads of one client address, per process; further ones get 429"),
});

type RateLimitKind = "requests" | "runs";
type RateLimitPolicy = TokenBucket & { policy: string; kind: RateLimitKind };
export type RateLimiter = {
  /** Takes a token for a request or a run. Throws rate_limited if none is left. Returns a function that refunds it. */
  consume(caller: Caller, kind: RateLimitKind): Promise<() => void>;
  /** Values of the RateLimit-Policy and RateLimit headers; undefined if nothing is limited. */
  headers(caller: Caller): { policy: string; left: string } | undefined;
  /** Maximum number of open runs of the tenant and of the key. */
  openRunLimits(caller: Caller): OpenRunLimits;
};

const MINUTE = 60;
const RETURN_IDLE_INTERVAL_MS = 500;

const readLimit = (limits: Record<string, unknown>, name: string): number | undefined => {
  const value = limits[name];
  return typeof value === "number" && value >= 0 ? value : undefined;
};

type Dependencies = { database: Database; clock: Pick<Clock, "monotonic" | "every">; random: Random };

export function createRateLimiter(
  { database, clock, random }: Dependencies,
  env: z.output<typeof RateLimitEnv>,
): RateLimiter {
  const buckets = new Map<string, { rule: RateLimitPolicy; bucket: LocalTokenBucket }>();

  const listRules = (kind: RateLimitKind, subject: "tenant" | "key", caller: Caller): RateLimitPolicy[] => {
    const isKey = subject === "key";
    const own = isKey ? caller.limits : caller.tenant.limits;
    const defaultMax = env[`${isKey ? "KEY" : "TENANT"}_${kind === "runs" ? "RUNS" : "REQUESTS"}_PER_MINUTE`];
    const max = readLimit(own, `${kind}_per_minute`) ?? defaultMax;
    if (max === 0 || (isKey && caller.key_id === null)) return [];
    const id = isKey ? caller.key_id : caller.tenant_id;
    const policy = isKey ? `key-${kind}` : kind;
    return [{ name: `${id}/${kind}`, capacity: max, perSecond: max / MINUTE, policy, kind }];
  };
  const rulesOf = (caller: Caller): RateLimitPolicy[] =>
    (["requests", "runs"] as const).flatMap((kind) => [
      ...listRules(kind, "tenant", caller),
      ...listRules(kind, "key", caller),
    ]);
  const bucketOf = (rule: RateLimitPolicy): LocalTokenBucket => {
    const existing = buckets.get(rule.name);
    // A changed limit needs a new local bucket; the shared bucket in the database stays the same.
    if (existing?.rule.capacity === rule.capacity) return existing.bucket;
    const take: TakeTokens = (shared, amount) => takeTokens(database, shared, amount);
    const bucket = createLocalTokenBucket(rule, take, clock);
    buckets.set(rule.name, { rule, bucket });
    return bucket;
  };

  const openRunsOf = ({ tenant, limits }: Caller) => ({
    tenant: (readLimit(tenant.limits, "open_runs") ?? env.TENANT_OPEN_RUNS) || undefined,
    key: readLimit(limits, "open_runs") || undefined,
  });

  const returnIdleTokens = () =>
    Promise.all(
      [...buckets].map(async ([name, { bucket }]) => {
        if (await bucket.returnIdleTokens().catch(() => false)) buckets.delete(name);
      }),
    );
  clock.every(RETURN_IDLE_INTERVAL_MS, () => void returnIdleTokens()).unref();

  return {
    async consume(caller, kind) {
      const taken: LocalTokenBucket[] = [];
      const refund = () => {
        for (const bucket of taken) bucket.refund();
      };
      for (const rule of rulesOf(caller).filter((each) => each.kind === kind)) {
        const bucket = bucketOf(rule);
        if (!(await bucket.take())) {
          refund();
          throw rateLimitedFault(rule, bucket.state().seconds, random);
        }
        taken.push(bucket);
      }
      return refund;
    },
    headers(caller) {
      const rules = rulesOf(caller);
      const openRuns = openRunsOf(caller);
      const isUnlimited = openRuns.tenant === undefined && openRuns.key === undefined;
      if (rules.length === 0 && isUnlimited) return undefined;
      const policies = rules.map(({ policy, capacity }) => `"${policy}";q=${capacity};w=${MINUTE}`);
      if (openRuns.tenant) policies.push(`"open-runs";q=${openRuns.tenant};qu="concurrent-requests"`);
      if (openRuns.key) policies.push(`"key-open-runs";q=${openRuns.key};qu="concurrent-requests"`);
      const left = rules.flatMap((rule) => {
        const existing = buckets.get(rule.name);
        if (!existing) return [];
        const { remaining, seconds } = existing.bucket.state();
        return [`"${rule.policy}";r=${remaining};t=${seconds}`];
      });
      return { policy: policies.join(", "), left: left.join(", ") };
    },
    openRunLimits: openRunsOf,
  };
}

/** retry_after has a random part, so that clients refused at the same time do not retry at the same time. */
function rateLimitedFault({ policy }: RateLimitPolicy, seconds: number, random: Random): Fault {
  const retry_after = seconds + Math.floor(random() * Math.max(2, seconds / 4));
  return new Fault("rate_limited", { policy, retry_after });
}
