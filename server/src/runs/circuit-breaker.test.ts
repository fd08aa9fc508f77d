import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { systemClock } from "../kit/system-clock.ts";
import type { SelectedOffer } from "../providers/provider.ts";
import { createCircuitBreaker } from "./circuit-breaker.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (holds: () => boolean) => {
  for (const end = Date.now() + 3000; !holds() && Date.now() < end; ) await pause(20);
  expect(holds()).toBe(true);
};
const fail = async (health: ReturnType<typeof createCircuitBreaker>, offer: SelectedOffer, times: number) => {
  for (let n = 0; n < times; n++) await health.recordFailure(offer);
};

describe("the circuit breaker", () => {
  const rule = { failures: 3, seconds: 1 };

  it("opens after consecutive failures, for every process, and allows exactly one trial when the time is over", async () => {
    const offer = { provider: "p", upstreamModel: "first" };
    const [here, there] = [
      createCircuitBreaker(database.db, rule, systemClock),
      createCircuitBreaker(database.db, rule, systemClock),
    ];
    await fail(here, offer, 2);
    expect(here.openForSeconds(offer)).toBe(0);
    expect(await here.tryAcquire(offer)).toBe(true);
    await here.recordFailure(offer);
    expect(here.openForSeconds(offer)).toBeGreaterThan(0.5);
    expect(await here.tryAcquire(offer)).toBe(false);
    await until(() => there.openForSeconds(offer) > 0);
    expect(await there.tryAcquire(offer)).toBe(false);
    await pause(1100);
    const tries = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).tryAcquire(offer)));
    expect(tries.filter(Boolean)).toHaveLength(1);
  });

  it("closes with the first success, and stays open twice as long after a failed trial", async () => {
    const offer = { provider: "p", upstreamModel: "second" };
    const health = createCircuitBreaker(database.db, rule, systemClock);
    await fail(health, offer, 3);
    await pause(1050);
    expect(await health.tryAcquire(offer)).toBe(true);
    await health.recordFailure(offer);
    expect(health.openForSeconds(offer)).toBeGreaterThan(1.5);
    await pause(2050);
    expect(await health.tryAcquire(offer)).toBe(true);
    await health.recordSuccess(offer);
    expect(health.openForSeconds(offer)).toBe(0);
    expect(await Promise.all([health.tryAcquire(offer), health.tryAcquire(offer)])).toEqual([true, true]);
  });

  it("resets its count after a success", async () => {
    const offer = { provider: "p", upstreamModel: "third" };
    const health = createCircuitBreaker(database.db, rule, systemClock);
    for (let n = 0; n < 5; n++) {
      await fail(health, offer, 2);
      await health.recordSuccess(offer);
    }
    expect(health.openForSeconds(offer)).toBe(0);
  });

  it("is separate for each offer of a provider", async () => {
    const health = createCircuitBreaker(database.db, rule, systemClock);
    await fail(health, { provider: "p", upstreamModel: "ill" }, 3);
    expect(health.openForSeconds({ provider: "p", upstreamModel: "well" })).toBe(0);
    expect(health.openForSeconds({ provider: "q", upstreamModel: "ill" })).toBe(0);
  });
});
