// Rate limits per tenant and per key: requests and runs per minute, and open runs. `limits` of a tenant or key override
// the settings. A key counts against the keys above it, too. Rates are token buckets that hold one minute's worth of
// tokens.
import { z } from "zod";
import { type Caller, type LimitHolder, limitHolders } from "../../db/access/caller.ts";
import { type TokenBucket, takeTokens } from "../../db/access/token-buckets.ts";
import type { Database } from "../../db/connect.ts";
import type { OpenRunLimits } from "../../db/runs/insert-run.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock, Random } from "../../runtime/clock.ts";
import { createLocalTokenBucket, type LocalTokenBucket, type TakeTokens } from "./token-bucket.ts";

const rate = (max: number, description: string) =>
  z.coerce.number().min(0).default(max).describe(`${description}; 0: no limit`);

export const RateLimitEnv = z.object({
  TENANT_REQUESTS_PER_MINUTE: rate(120_000, "Requests per minute of one tenant"),
  TENANT_RUNS_PER_MINUTE: rate(60_000, "New runs per minute of one tenant"),
  KEY_REQUESTS_PER_MINUTE: rate(0, "Requests per minute with one key and the keys created with it"),
  KEY_RUNS_PER_MINUTE: rate(0, "New runs per minute with one key and the keys created with it"),
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

const RATE_LIMIT_KINDS = ["requests", "runs"] as const;
type RateLimitKind = (typeof RATE_LIMIT_KINDS)[number];
/** `key_id`: set if the limit is that of a key above the caller's. */
type RateLimitPolicy = TokenBucket & { policy: string; kind: RateLimitKind; key_id?: string };
export type RateLimiter = {
  /** Takes a token for a request or a run. Throws rate_limited if none is left. Returns a function that refunds it. */
  consume(caller: Caller, kind: RateLimitKind): Promise<() => void>;
  /** Values of the RateLimit-Policy and RateLimit headers; undefined if nothing is limited. */
  headers(caller: Caller): { policy: string; left: string } | undefined;
  /** Maximum number of open runs of the tenant, of the key, and of the keys above it. */
  openRunLimits(caller: Caller): OpenRunLimits;
};

const MINUTE = 60;
const RETURN_IDLE_INTERVAL_MS = 500;

const readLimit = (limits: Record<string, unknown>, name: string): number | undefined => {
  const value = limits[name];
  return typeof value === "number" && value >= 0 ? value : undefined;
};

type Settings = z.output<typeof RateLimitEnv>;

/** Of the tenant, of the keys above the caller's from the root, and of the caller's key. */
function listRules(env: Settings, caller: Caller, kind: RateLimitKind): RateLimitPolicy[] {
  const suffix = `${kind === "runs" ? "RUNS" : "REQUESTS"}_PER_MINUTE` as const;
  const toRules = (
    { holder_id, limits }: LimitHolder,
    own: Pick<RateLimitPolicy, "policy" | "key_id">,
    byDefault: number,
  ) => {
    const max = readLimit(limits, `${kind}_per_minute`) ?? byDefault;
    return max === 0 ? [] : [{ name: `${holder_id}/${kind}`, capacity: max, perSecond: max / MINUTE, kind, ...own }];
  };
  const tenant = { holder_id: caller.tenant_id, limits: caller.tenant.limits };
  const ofKey = env[`KEY_${suffix}`];
  const holders = limitHolders(caller);
  const above = holders.slice(0, -1);
  return [
    ...toRules(tenant, { policy: kind }, env[`TENANT_${suffix}`]),
    ...above.flatMap((key) => toRules(key, { policy: `parent-key-${kind}`, key_id: key.holder_id }, ofKey)),
    ...holders.slice(-1).flatMap((key) => toRules(key, { policy: `key-${kind}` }, ofKey)),
  ];
}

function findOpenRunLimits(env: Settings, caller: Caller): OpenRunLimits {
  const parents = caller.ancestors.flatMap(({ holder_id, limits }) => {
    const max = readLimit(limits, "open_runs");
    return max ? [{ holder_id, max }] : [];
  });
  return {
    tenant: (readLimit(caller.tenant.limits, "open_runs") ?? env.TENANT_OPEN_RUNS) || undefined,
    key: readLimit(caller.limits, "open_runs") || undefined,
    ...(parents.length > 0 && { parents }),
  };
}

function listOpenRunPolicies({ tenant, key, parents }: OpenRunLimits): string[] {
  const limits: [policy: string, max: number | undefined][] = [
    ["open-runs", tenant],
    ["key-open-runs", key],
    ["parent-key-open-runs", parents && Math.min(...parents.map(({ max }) => max))],
  ];
  return limits.flatMap(([policy, max]) => (max ? [`"${policy}";q=${max};qu="concurrent-requests"`] : []));
}

type Dependencies = { database: Database; clock: Pick<Clock, "monotonic" | "every">; random: Random };

export function createRateLimiter({ database, clock, random }: Dependencies, env: Settings): RateLimiter {
  const buckets = new Map<string, { rule: RateLimitPolicy; bucket: LocalTokenBucket }>();

  const bucketOf = (rule: RateLimitPolicy): LocalTokenBucket => {
    const existing = buckets.get(rule.name);
    // A changed limit needs a new local bucket; the shared bucket in the database stays the same.
    if (existing?.rule.capacity === rule.capacity) return existing.bucket;
    const take: TakeTokens = (shared, amount) => takeTokens(database, shared, amount);
    const bucket = createLocalTokenBucket(rule, take, clock);
    buckets.set(rule.name, { rule, bucket });
    return bucket;
  };

  /** Of several keys above with such a limit, the one with the least left. */
  const leastLeft = (rules: RateLimitPolicy[]): RateLimitPolicy[] => {
    const left = (rule: RateLimitPolicy) => buckets.get(rule.name)?.bucket.state().remaining ?? rule.capacity;
    const least = new Map<string, RateLimitPolicy>();
    for (const rule of rules) {
      const other = least.get(rule.policy);
      if (!other || left(rule) < left(other)) least.set(rule.policy, rule);
    }
    return [...least.values()];
  };

  const returnIdleTokens = () =>
    Promise.all(
      [...buckets].map(async ([name, { bucket }]) => {
        if (await bucket.returnIdleTokens().catch(() => false)) buckets.delete(name);
      }),
    );
  clock.every(RETURN_IDLE_INTERVAL_MS, () => void returnIdleTokens()).unref();

  return {
    async consume(caller, kind) {
      const rules = listRules(env, caller, kind).map((rule) => ({ rule, bucket: bucketOf(rule) }));
      // At the same time, so that the buckets that are empty here are refilled by one statement.
      const results = await Promise.allSettled(rules.map(({ bucket }) => bucket.take()));
      const isTaken = (_: unknown, index: number) => {
        const result = results[index]!;
        return result.status === "fulfilled" && result.value;
      };
      const taken = rules.filter(isTaken);
      const refund = () => {
        for (const { bucket } of taken) bucket.refund();
      };
      if (taken.length === rules.length) return refund;
      refund();
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
      const { rule, bucket } = rules.find((each, index) => !isTaken(each, index))!;
      throw rateLimitedFault(rule, bucket.state().seconds, random);
    },
    headers(caller) {
      const rules = leastLeft(RATE_LIMIT_KINDS.flatMap((kind) => listRules(env, caller, kind)));
      const policies = [
        ...rules.map(({ policy, capacity }) => `"${policy}";q=${capacity};w=${MINUTE}`),
        ...listOpenRunPolicies(findOpenRunLimits(env, caller)),
      ];
      if (policies.length === 0) return undefined;
      const left = rules.flatMap((rule) => {
        const existing = buckets.get(rule.name);
        if (!existing) return [];
        const { remaining, seconds } = existing.bucket.state();
        return [`"${rule.policy}";r=${remaining};t=${seconds}`];
      });
      return { policy: policies.join(", "), left: left.join(", ") };
    },
    openRunLimits: (caller) => findOpenRunLimits(env, caller),
  };
}

/** retry_after has a random part, so that clients refused at the same time do not retry at the same time. */
function rateLimitedFault({ policy, key_id }: RateLimitPolicy, seconds: number, random: Random): Fault {
  const retry_after = seconds + Math.floor(random() * Math.max(2, seconds / 4));
  return new Fault("rate_limited", { policy, retry_after, ...(key_id && { key_id }) });
}
