import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
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
const fail = async (health: ReturnType<typeof createCircuitBreaker>, choice: SelectedOffer, times: number) => {
  for (let n = 0; n < times; n++) await health.recordFailure(choice);
};

describe("the circuit breaker", () => {
  const rule = { failures: 3, seconds: 1 };

  it("shuts after failures in a row, for every process, and lets exactly one try when the time has come", async () => {
    const choice = { provider: "p", upstreamModel: "first" };
    const [here, there] = [createCircuitBreaker(database.db, rule), createCircuitBreaker(database.db, rule)];
    await fail(here, choice, 2);
    expect(here.openForSeconds(choice)).toBe(0);
    expect(await here.tryAcquire(choice)).toBe(true);
    await here.recordFailure(choice);
    expect(here.openForSeconds(choice)).toBeGreaterThan(0.5);
    expect(await here.tryAcquire(choice)).toBe(false);
    await until(() => there.openForSeconds(choice) > 0);
    expect(await there.tryAcquire(choice)).toBe(false);
    await pause(1100);
    const tries = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).tryAcquire(choice)));
    expect(tries.filter(Boolean)).toHaveLength(1);
  });

  it("opens again with the first success, and stays shut twice as long with a failed trial", async () => {
    const choice = { provider: "p", upstreamModel: "second" };
    const health = createCircuitBreaker(database.db, rule);
    await fail(health, choice, 3);
    await pause(1050);
    expect(await health.tryAcquire(choice)).toBe(true);
    await health.recordFailure(choice);
    expect(health.openForSeconds(choice)).toBeGreaterThan(1.5);
    await pause(2050);
    expect(await health.tryAcquire(choice)).toBe(true);
    await health.recordSuccess(choice);
    expect(health.openForSeconds(choice)).toBe(0);
    expect(await Promise.all([health.tryAcquire(choice), health.tryAcquire(choice)])).toEqual([true, true]);
  });

  it("forgets failures that a success came between", async () => {
    const choice = { provider: "p", upstreamModel: "third" };
    const health = createCircuitBreaker(database.db, rule);
    for (let n = 0; n < 5; n++) {
      await fail(health, choice, 2);
      await health.recordSuccess(choice);
    }
    expect(health.openForSeconds(choice)).toBe(0);
  });

  it("keeps the offers of one provider apart", async () => {
    const health = createCircuitBreaker(database.db, rule);
    await fail(health, { provider: "p", upstreamModel: "ill" }, 3);
    expect(health.openForSeconds({ provider: "p", upstreamModel: "well" })).toBe(0);
    expect(health.openForSeconds({ provider: "q", upstreamModel: "ill" })).toBe(0);
  });
});
