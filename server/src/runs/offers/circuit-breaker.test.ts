// The circuit breaker on a real database. The processes and the database are on one clock, which the test moves.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock, type ManualClock } from "../../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Database } from "../../db/connect.ts";
import type { SelectedOffer } from "../../providers/provider.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";

const CACHE_MS = 500;
let database: TestDatabase;
let clock: ManualClock;
let db: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
  clock = createManualClock();
  db = connectOnClock(database, clock);
});
afterAll(async () => {
  await db?.close();
  await database?.stop();
});
beforeEach(() => clock.advance(0));

const fail = async (health: ReturnType<typeof createCircuitBreaker>, offer: SelectedOffer, times: number) => {
  for (let n = 0; n < times; n++) await health.recordFailure(offer);
};

describe("the circuit breaker", () => {
  const rule = { failures: 3, seconds: 10 };
  const open = () => createCircuitBreaker(db, rule, clock);

  it("opens after consecutive failures, for every process, and allows exactly one trial when the time is over", async () => {
    const offer = { provider: "p", upstreamModel: "first" };
    const [here, there] = [open(), open()];
    await fail(here, offer, 2);
    expect(here.openForSeconds(offer)).toBe(0);
    expect(await here.tryAcquire(offer)).toBe(true);
    await here.recordFailure(offer);
    expect(here.openForSeconds(offer)).toBe(10);
    expect(await here.tryAcquire(offer)).toBe(false);
    // Another process reads the state in the background, at most every 500 ms.
    there.openForSeconds(offer);
    await clock.advance(CACHE_MS);
    expect(there.openForSeconds(offer)).toBe(9.5);
    expect(await there.tryAcquire(offer)).toBe(false);
    await clock.advance(9499);
    expect([await here.tryAcquire(offer), await there.tryAcquire(offer)]).toEqual([false, false]);
    await clock.advance(1);
    const tries = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).tryAcquire(offer)));
    expect(tries.filter(Boolean)).toHaveLength(1);
  });

  it("closes with the first success, and stays open twice as long after a failed trial", async () => {
    const offer = { provider: "p", upstreamModel: "second" };
    const health = open();
    await fail(health, offer, 3);
    await clock.advance(10_000);
    expect(await health.tryAcquire(offer)).toBe(true);
    await health.recordFailure(offer);
    expect(health.openForSeconds(offer)).toBe(20);
    await clock.advance(19_999);
    expect(await health.tryAcquire(offer)).toBe(false);
    await clock.advance(1);
    expect(await health.tryAcquire(offer)).toBe(true);
    await health.recordSuccess(offer);
    expect(health.openForSeconds(offer)).toBe(0);
    expect(await Promise.all([health.tryAcquire(offer), health.tryAcquire(offer)])).toEqual([true, true]);
  });

  it("resets its count after a success", async () => {
    const offer = { provider: "p", upstreamModel: "third" };
    const health = open();
    for (let n = 0; n < 5; n++) {
      await fail(health, offer, 2);
      await health.recordSuccess(offer);
    }
    expect(health.openForSeconds(offer)).toBe(0);
  });

  it("is separate for each offer of a provider", async () => {
    const health = open();
    await fail(health, { provider: "p", upstreamModel: "ill" }, 3);
    expect(health.openForSeconds({ provider: "p", upstreamModel: "well" })).toBe(0);
    expect(health.openForSeconds({ provider: "q", upstreamModel: "ill" })).toBe(0);
  });
});
