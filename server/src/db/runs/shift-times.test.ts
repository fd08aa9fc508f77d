// After the clock of PostgreSQL was set back, nothing stands still until the clock has caught up. The rows are written
// as if they were from ten minutes later.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { takeTokens } from "../access/token-buckets.ts";
import { takeRateLimitToken } from "../attempts/provider-slots.ts";
import { acquireLeases } from "../leases.ts";
import { shiftOpenTimes } from "./shift-times.ts";

const BACK_SECONDS = 600;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

let statements = 0;
const run = (text: string) => database.owner.query(`test.sql_${++statements}`, text);

it("a bucket that was filled before the clock was set back grants tokens from now on", async () => {
  const bucket = { name: "tenant/requests", capacity: 10, perSecond: 10 };
  await takeTokens(database.db, bucket, { want: 1, back: 0 });
  await run(`update token_buckets set filled_at = now() + interval '${BACK_SECONDS} seconds'`);
  expect(await takeTokens(database.db, bucket, { want: 4, back: 0 })).toEqual({ granted: 4, remaining: 5 });
});

it("the rate of a provider counts from now on after the clock was set back", async () => {
  expect(await takeRateLimitToken(database.db, "fake", 10)).toBe(0);
  await run(`update provider_rate_limits set filled_at = now() + interval '${BACK_SECONDS} seconds'`);
  expect(await takeRateLimitToken(database.db, "fake", 10)).toBeLessThanOrEqual(6);
});

it("leases of duties and circuit breakers keep the time that they had left", async () => {
  const later = (seconds: number) => `now() + interval '${BACK_SECONDS + seconds} seconds'`;
  await run(`insert into leases (name, holder, until) values ('dispatcher', 'dead', ${later(-5)})`);
  await run(`insert into leases (name, holder, until) values ('reconciler', 'alive', now() + interval '10 seconds')`);
  await run(`insert into circuit_breakers (provider, upstream, failures, open_until, changed_at)
    values ('fake', 'model', 3, ${later(30)}, ${later(0)}), ('new', 'model', 3, now() + interval '30 seconds', now())`);
  expect(await shiftOpenTimes(database.db, { seconds: -BACK_SECONDS, holder: "first" })).toBe(true);
  expect(await acquireLeases(database.db, "next", ["dispatcher", "reconciler"], 10)).toEqual(["dispatcher"]);
  const open = await run("select extract(epoch from open_until - now())::int as seconds from circuit_breakers");
  expect(open).toEqual([{ seconds: 30 }, { seconds: 30 }]);
});
