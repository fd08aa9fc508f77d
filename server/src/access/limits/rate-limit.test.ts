// Rate limits on real buckets in a real database, with a clock and a random number that the test decides.
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { createCallerRecord } from "../../../test/support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Caller } from "../../db/access/caller.ts";
import type { Database } from "../../db/connect.ts";
import { createRateLimiter, RateLimitEnv } from "./rate-limit.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
});
afterAll(() => database?.stop());

const NO_LIMITS = { TENANT_REQUESTS_PER_MINUTE: 0, TENANT_RUNS_PER_MINUTE: 0 };
const openLimiter = (
  env: Record<string, number> = {},
  random = 0,
  clock = createManualClock(1000),
  on: Database = database.db,
) => {
  const settings = RateLimitEnv.parse({ ...NO_LIMITS, ...env });
  return { limiter: createRateLimiter({ database: on, clock, random: () => random }, settings), clock };
};
type Limits = Record<string, number>;
const newCaller = ({ key = {}, tenant = {} }: { key?: Limits; tenant?: Limits } = {}): Caller =>
  createCallerRecord({ tenant_id: v7(), key_id: v7(), limits: key, tenant: { weight: 1, limits: tenant } });
const refused = (policy: string) =>
  expect.objectContaining({ code: "rate_limited", details: expect.objectContaining({ policy }) });

describe("a rate limit", () => {
  it.each([
    ["requests", "requests", { TENANT_REQUESTS_PER_MINUTE: 2 }, {}],
    ["runs", "runs", { TENANT_RUNS_PER_MINUTE: 2 }, {}],
    ["key-requests", "requests", { KEY_REQUESTS_PER_MINUTE: 2 }, {}],
    ["key-runs", "runs", { KEY_RUNS_PER_MINUTE: 2 }, {}],
    ["requests", "requests", {}, { tenant: { requests_per_minute: 2 } }],
    ["runs", "runs", { TENANT_RUNS_PER_MINUTE: 9 }, { tenant: { runs_per_minute: 2 } }],
    ["key-requests", "requests", {}, { key: { requests_per_minute: 2 } }],
    ["key-runs", "runs", { KEY_RUNS_PER_MINUTE: 9 }, { key: { runs_per_minute: 2 } }],
  ] as const)("refuses more than its %s per minute and names its policy: %#", async (policy, kind, env, limits) => {
    const { limiter } = openLimiter(env);
    const caller = newCaller(limits);
    await limiter.consume(caller, kind);
    await limiter.consume(caller, kind);
    await expect(limiter.consume(caller, kind)).rejects.toEqual(refused(policy));
    const other = kind === "runs" ? "requests" : "runs";
    for (let n = 0; n < 4; n++) await limiter.consume(caller, other);
    expect(limiter.headers(caller)).toEqual({
      policy: `"${policy}";q=2;w=60`,
      left: expect.stringMatching(new RegExp(`^"${policy}";r=0;t=\\d+$`)),
    });
  });

  it("of a tenant counts all its keys, and of a key no other key", async () => {
    const { limiter } = openLimiter({ TENANT_REQUESTS_PER_MINUTE: 3, KEY_REQUESTS_PER_MINUTE: 2 });
    const caller = newCaller();
    const other = { ...caller, key_id: v7() };
    await limiter.consume(caller, "requests");
    await limiter.consume(caller, "requests");
    await expect(limiter.consume(caller, "requests")).rejects.toEqual(refused("key-requests"));
    await limiter.consume(other, "requests");
    await expect(limiter.consume(other, "requests")).rejects.toEqual(refused("requests"));
    await limiter.consume(newCaller(), "requests");
  });

  it("of 0 is none, whether it is of the settings, of the tenant or of the key", async () => {
    const { limiter } = openLimiter({ TENANT_RUNS_PER_MINUTE: 1, KEY_RUNS_PER_MINUTE: 1 });
    const caller = newCaller({ tenant: { runs_per_minute: 0 }, key: { runs_per_minute: 0 } });
    for (let n = 0; n < 5; n++) await limiter.consume(caller, "runs");
    expect(limiter.headers(caller)).toBeUndefined();
  });

  it.each([-1, "5", null])("of %s in the database is ignored", async (value) => {
    const { limiter } = openLimiter();
    const caller = newCaller({ key: { requests_per_minute: value as number, open_runs: value as number } });
    expect([limiter.headers(caller), limiter.openRunLimits(caller)]).toEqual([undefined, {}]);
  });

  it("of keys does not apply to a caller without a key", async () => {
    const { limiter } = openLimiter({ KEY_REQUESTS_PER_MINUTE: 1 });
    const caller = { ...newCaller(), key_id: null };
    for (let n = 0; n < 3; n++) await limiter.consume(caller, "requests");
    expect(limiter.headers(caller)).toBeUndefined();
  });

  it("counts no request that another limit refused", async () => {
    const { limiter } = openLimiter({ TENANT_REQUESTS_PER_MINUTE: 3, KEY_REQUESTS_PER_MINUTE: 1 });
    const caller = newCaller();
    await limiter.consume(caller, "requests");
    for (let n = 0; n < 5; n++)
      await expect(limiter.consume(caller, "requests")).rejects.toEqual(refused("key-requests"));
    for (let n = 0; n < 2; n++) await limiter.consume({ ...caller, key_id: v7() }, "requests");
    await expect(limiter.consume({ ...caller, key_id: v7() }, "requests")).rejects.toEqual(refused("requests"));
  });

  it("takes back a token that was not used", async () => {
    const { limiter } = openLimiter({ TENANT_RUNS_PER_MINUTE: 1, KEY_RUNS_PER_MINUTE: 1 });
    const caller = newCaller();
    for (let n = 0; n < 3; n++) (await limiter.consume(caller, "runs"))();
    expect(limiter.headers(caller)!.left).toBe('"runs";r=1;t=0, "key-runs";r=1;t=0');
    await limiter.consume(caller, "runs");
    await expect(limiter.consume(caller, "runs")).rejects.toMatchObject({ code: "rate_limited" });
  });

  it("that is changed applies at once", async () => {
    const clock = createManualClock(1000);
    const db = connectOnClock(database, clock);
    const { limiter } = openLimiter({}, 0, clock, db);
    const caller = newCaller({ tenant: { requests_per_minute: 1 } });
    await limiter.consume(caller, "requests");
    await expect(limiter.consume(caller, "requests")).rejects.toEqual(refused("requests"));
    const raised = { ...caller, tenant: { weight: 1, limits: { requests_per_minute: 60_000 } } };
    // The shared bucket keeps its contents and is refilled faster: a thousand tokens a second.
    await expect(limiter.consume(raised, "requests")).rejects.toEqual(refused("requests"));
    await clock.advance(100);
    for (let n = 0; n < 100; n++) await limiter.consume(raised, "requests");
    await expect(limiter.consume(raised, "requests")).rejects.toEqual(refused("requests"));
    await db.close();
    expect(limiter.headers(raised)!.policy).toBe('"requests";q=60000;w=60');
  });

  it.each([
    [0, 0],
    [0.999, 7],
  ])("names the seconds to wait, with a random part of a quarter: %d", async (random, more) => {
    const { limiter } = openLimiter({ TENANT_RUNS_PER_MINUTE: 2 }, random);
    const caller = newCaller();
    await limiter.consume(caller, "runs");
    await limiter.consume(caller, "runs");
    const { details } = await limiter.consume(caller, "runs").catch((thrown) => thrown);
    expect(details.retry_after - more).toBeGreaterThanOrEqual(29);
    expect(details.retry_after - more).toBeLessThanOrEqual(30);
  });

  it("has a random part of at least two seconds", async () => {
    const { limiter } = openLimiter({ TENANT_RUNS_PER_MINUTE: 12 }, 0.999);
    const caller = newCaller();
    for (let n = 0; n < 12; n++) await limiter.consume(caller, "runs");
    const { details } = await limiter.consume(caller, "runs").catch((thrown) => thrown);
    expect([5, 6]).toContain(details.retry_after);
  });
});

describe("the headers of rate limits", () => {
  it("name each limit, and what is left of those that were used", async () => {
    const { limiter } = openLimiter({ TENANT_REQUESTS_PER_MINUTE: 600, TENANT_RUNS_PER_MINUTE: 60 });
    const caller = newCaller({ tenant: { open_runs: 4 }, key: { open_runs: 2, runs_per_minute: 30 } });
    const policy =
      '"requests";q=600;w=60, "runs";q=60;w=60, "key-runs";q=30;w=60, ' +
      '"open-runs";q=4;qu="concurrent-requests", "key-open-runs";q=2;qu="concurrent-requests"';
    expect(limiter.headers(caller)).toEqual({ policy, left: "" });
    await limiter.consume(caller, "requests");
    await limiter.consume(caller, "runs");
    expect(limiter.headers(caller)).toEqual({
      policy,
      left: '"requests";r=599;t=1, "runs";r=59;t=1, "key-runs";r=29;t=2',
    });
  });

  it.each([{ tenant: { open_runs: 4 } }, { key: { open_runs: 4 } }])(
    "are there if only open runs are limited: %#",
    (limits) => {
      const { limiter } = openLimiter();
      const name = "tenant" in limits ? "open-runs" : "key-open-runs";
      const policy = `"${name}";q=4;qu="concurrent-requests"`;
      expect(limiter.headers(newCaller(limits))).toEqual({ policy, left: "" });
    },
  );
});

it("open runs are limited per tenant by default, and per key if the key says so", () => {
  const { limiter } = openLimiter({ TENANT_OPEN_RUNS: 7 });
  expect(limiter.openRunLimits(newCaller())).toEqual({ tenant: 7 });
  expect(limiter.openRunLimits(newCaller({ tenant: { open_runs: 3 }, key: { open_runs: 2 } }))).toEqual({
    ...{ tenant: 3, key: 2 },
  });
  expect(limiter.openRunLimits(newCaller({ tenant: { open_runs: 0 }, key: { open_runs: 0 } }))).toEqual({});
});

describe("idle tokens", () => {
  const openIdle = async () => {
    const clock = createManualClock(1000);
    const db = connectOnClock(database, clock);
    const { limiter } = openLimiter({ TENANT_REQUESTS_PER_MINUTE: 10 }, 0, clock, db);
    const caller = newCaller();
    (await limiter.consume(caller, "requests"))();
    return {
      clock,
      db,
      hasLocalBucket: () => limiter.headers(caller)!.left !== "",
      async sharedTokens() {
        const text = "select floor(tokens)::int as tokens from token_buckets where bucket = $1";
        const [row] = await database.owner.query<{ tokens: number }>(v7(), text, [`${caller.tenant_id}/requests`]);
        return row!.tokens;
      },
    };
  };

  it("are returned to the shared bucket after a second, for other processes", async () => {
    const { clock, db, hasLocalBucket, sharedTokens } = await openIdle();
    await clock.advance(999);
    expect([hasLocalBucket(), await sharedTokens()]).toEqual([true, 9]);
    await clock.advance(1);
    expect([hasLocalBucket(), await sharedTokens()]).toEqual([false, 10]);
    await db.close();
  });

  it("survive a failure of the database, and the local bucket is dropped later", async () => {
    let failures = 0;
    const { clock, db, hasLocalBucket } = await openIdle();
    db.execute = async () => {
      failures++;
      throw new Error("no database");
    };
    await clock.advance(1000);
    expect([failures, hasLocalBucket()]).toEqual([1, true]);
    await clock.advance(500);
    expect(hasLocalBucket()).toBe(false);
    await db.close();
  });
});

it("the settings have defaults, and take numbers of 0 and more", () => {
  const defaults = RateLimitEnv.parse({});
  expect(defaults).toEqual({
    ...{ TENANT_REQUESTS_PER_MINUTE: 120_000, TENANT_RUNS_PER_MINUTE: 60_000 },
    ...{ KEY_REQUESTS_PER_MINUTE: 0, KEY_RUNS_PER_MINUTE: 0, TENANT_OPEN_RUNS: 0, TENANT_WAITERS: 100, WAITERS: 1000 },
    ...{ TENANT_STREAMS: 1000, STREAMS: 5000, ADDRESS_UNKNOWN_KEYS_PER_MINUTE: 600, ADDRESS_DOWNLOADS: 128 },
  });
  expect(RateLimitEnv.parse({ WAITERS: "7" }).WAITERS).toBe(7);
  expect(RateLimitEnv.safeParse({ WAITERS: "0" }).success).toBe(true);
  expect(RateLimitEnv.safeParse({ WAITERS: "-1" }).success).toBe(false);
});
