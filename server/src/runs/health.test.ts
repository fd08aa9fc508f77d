import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDatabase, type TestDatabase } from "../../test/database.ts";
import { createHealth } from "./health.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (holds: () => boolean) => {
  for (const end = Date.now() + 3000; !holds() && Date.now() < end; ) await pause(20);
  expect(holds()).toBe(true);
};
const fail = async (
  health: ReturnType<typeof createHealth>,
  choice: { provider: string; as: string },
  times: number,
) => {
  for (let n = 0; n < times; n++) await health.bad(choice);
};

describe("the circuit breaker", () => {
  const rule = { failures: 3, seconds: 1 };

  it("shuts after failures in a row, for every process, and lets exactly one try when the time has come", async () => {
    const choice = { provider: "p", as: "first" };
    const [here, there] = [createHealth(database.db, rule), createHealth(database.db, rule)];
    await fail(here, choice, 2);
    expect(here.shutFor(choice)).toBe(0);
    expect(await here.mayTry(choice)).toBe(true);
    await here.bad(choice);
    expect(here.shutFor(choice)).toBeGreaterThan(0.5);
    expect(await here.mayTry(choice)).toBe(false);
    await until(() => there.shutFor(choice) > 0);
    expect(await there.mayTry(choice)).toBe(false);
    await pause(1100);
    const tries = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).mayTry(choice)));
    expect(tries.filter(Boolean)).toHaveLength(1);
  });

  it("opens again with the first success, and stays shut twice as long with a failed trial", async () => {
    const choice = { provider: "p", as: "second" };
    const health = createHealth(database.db, rule);
    await fail(health, choice, 3);
    await pause(1050);
    expect(await health.mayTry(choice)).toBe(true);
    await health.bad(choice);
    expect(health.shutFor(choice)).toBeGreaterThan(1.5);
    await pause(2050);
    expect(await health.mayTry(choice)).toBe(true);
    await health.good(choice);
    expect(health.shutFor(choice)).toBe(0);
    expect(await Promise.all([health.mayTry(choice), health.mayTry(choice)])).toEqual([true, true]);
  });

  it("forgets failures that a success came between", async () => {
    const choice = { provider: "p", as: "third" };
    const health = createHealth(database.db, rule);
    for (let n = 0; n < 5; n++) {
      await fail(health, choice, 2);
      await health.good(choice);
    }
    expect(health.shutFor(choice)).toBe(0);
  });

  it("keeps the offers of one provider apart", async () => {
    const health = createHealth(database.db, rule);
    await fail(health, { provider: "p", as: "ill" }, 3);
    expect(health.shutFor({ provider: "p", as: "well" })).toBe(0);
    expect(health.shutFor({ provider: "q", as: "ill" })).toBe(0);
  });
});
