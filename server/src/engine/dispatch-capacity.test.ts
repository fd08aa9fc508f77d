// How many runs may start, counted in a real database with a clock that the test moves.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createDispatchServices, deleteOpenRuns, insertQueuedRuns, tenantId } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { saveWakeup } from "../db/attempts/open-requests.ts";
import { claimQueuedRuns } from "../db/runs/queue.ts";
import { startClaimedRun } from "../db/runs/start-run.ts";
import { createDispatchCapacity, createDispatchWindow } from "./dispatch-capacity.ts";

/** Runs that may be dispatched and not started, for each worker, before the window has adapted. */
const INITIAL_WINDOW = 16;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());
beforeEach(() => deleteOpenRuns(database.db));

const createCapacity = (workerSlots: number, rateLimits: Record<string, object> = {}) => {
  const clock = createManualClock();
  const services = createDispatchServices({ database: database.db, workerSlots, clock, rateLimits });
  return { clock, capacity: createDispatchCapacity(services) };
};

/** Dispatches runs of a lane, and starts them if `isStarted`. */
const dispatch = async (lane: string, count: number, { isStarted = true } = {}) => {
  await insertQueuedRuns(database.db, tenantId(1), lane, count);
  const claims = await claimQueuedRuns(database.db, [{ tenant_id: tenantId(1), lane, count }]);
  if (isStarted) for (const claim of claims) await startClaimedRun(database.db, claim, claim.run_id);
  return claims;
};

const waitForSlot = async (lane: string, count: number) => {
  for (const claim of await dispatch(lane, count))
    await saveWakeup(database.db, claim, 0, { wakeupId: "w", seconds: 60, activity: "waiting_for_slot" });
};

describe("the free slots", () => {
  it("are the slots of all workers without the runs that a worker executes", async () => {
    await dispatch("a", 3);
    const { capacity } = createCapacity(5);
    expect(await capacity.freeSlots()).toBe(2);
    capacity.setWorkers(2);
    expect(await capacity.freeSlots()).toBe(7);
    capacity.setWorkers(0);
    expect(await capacity.freeSlots()).toBe(2);
  });

  it("leave out runs that wait for their provider or for a provider slot", async () => {
    for (const claim of await dispatch("a", 2))
      await saveWakeup(database.db, claim, 0, { wakeupId: "w", seconds: 60, activity: "at_provider" });
    await waitForSlot("b", 2);
    expect(await createCapacity(5).capacity.freeSlots()).toBe(5);
  });

  it("let one run per worker start even if every slot is taken", async () => {
    await dispatch("a", 9);
    const { capacity } = createCapacity(5);
    capacity.setWorkers(2);
    expect(await createCapacity(5).capacity.freeSlots()).toBe(1);
    await dispatch("a", 1, { isStarted: false });
    expect(await createCapacity(5).capacity.freeSlots()).toBe(0);
  });

  it("are limited by the window of runs that are dispatched and not started", async () => {
    // The first count widens the window by one, because nothing waits for its start.
    expect(await createCapacity(1000).capacity.freeSlots()).toBe(INITIAL_WINDOW + 1);
    await dispatch("a", 6, { isStarted: false });
    expect(await createCapacity(1000).capacity.freeSlots()).toBeLessThanOrEqual(INITIAL_WINDOW + 1 - 6);
  });

  it("are counted again after 250 ms, and meanwhile reduced by what was dispatched", async () => {
    const { capacity, clock } = createCapacity(10);
    expect(await capacity.freeSlots()).toBe(10);
    await dispatch("a", 4);
    clock.at += 200;
    expect(await capacity.freeSlots()).toBe(10);
    capacity.recordDispatched([{ tenant_id: tenantId(1), lane: "a" }]);
    expect(await capacity.freeSlots()).toBe(9);
    clock.at += 51;
    expect(await capacity.freeSlots()).toBe(6);
  });

  it("are counted again after 15 ms while there are few, or while runs wait for a provider slot", async () => {
    await dispatch("a", 4);
    const { capacity, clock } = createCapacity(5);
    expect(await capacity.freeSlots()).toBe(1);
    await deleteOpenRuns(database.db);
    clock.at += 15;
    expect(await capacity.freeSlots()).toBe(1);
    clock.at += 1;
    expect(await capacity.freeSlots()).toBe(5);

    await waitForSlot("b", 1);
    clock.at += 251;
    expect(await capacity.freeSlots()).toBe(5);
    await dispatch("a", 2);
    clock.at += 16;
    expect(await capacity.freeSlots()).toBe(3);
  });
});

describe("the capacity of a lane", () => {
  it("is unlimited without a rate limit, until 8 runs wait for a provider slot", async () => {
    await waitForSlot("a", 7);
    const { capacity, clock } = createCapacity(100);
    await capacity.freeSlots();
    expect([capacity.laneCapacity("a"), capacity.laneCapacity("other")]).toEqual([Infinity, Infinity]);
    await waitForSlot("a", 1);
    clock.at += 251;
    await capacity.freeSlots();
    expect([capacity.laneCapacity("a"), capacity.laneCapacity("other")]).toEqual([0, Infinity]);
  });

  it("is enough to fill a rate limit, without the runs that are on their way", async () => {
    await dispatch("few", 2);
    await waitForSlot("few", 3);
    const { capacity } = createCapacity(100, {
      few: { concurrent: 2 },
      many: { concurrent: 41 },
      often: { perMinute: 600 },
    });
    await capacity.freeSlots();
    expect(capacity.laneCapacity("few")).toBe(8 - 2 - 3);
    expect(capacity.laneCapacity("many")).toBe(21);
    expect(capacity.laneCapacity("often")).toBe(20);
    capacity.recordDispatched([
      { tenant_id: tenantId(1), lane: "few" },
      { tenant_id: tenantId(1), lane: "many" },
    ]);
    expect(capacity.laneCapacity("few")).toBe(2);
  });
});

describe("the window", () => {
  const noted = (slowestMs: number, times: number) => {
    const window = createDispatchWindow();
    for (let n = 0; n < times; n++) window.recordStartDelay(slowestMs, n * 50);
    return window;
  };

  describe("the window", () => {
    it("grows while dispatched runs start immediately, up to a bound", () => {
      expect(noted(5, 10).size(1)).toBeGreaterThan(createDispatchWindow().size(1));
      expect(noted(5, 10_000).size(1)).toBe(100);
    });

    it("shrinks while they do not, and never to zero", () => {
      expect(noted(400, 4).size(1)).toBeLessThan(createDispatchWindow().size(1));
      expect(noted(400, 10_000).size(1)).toBe(4);
    });

    it("does not change in between", () => {
      expect(noted(100, 100).size(1)).toBe(createDispatchWindow().size(1));
    });

    it("waits for the effect of a small window before it shrinks further", () => {
      const window = createDispatchWindow();
      for (let n = 0; n < 50; n++) window.recordStartDelay(400, n);
      expect(window.size(1)).toBe(11);
    });

    it("has the same size for each worker", () => {
      expect(createDispatchWindow().size(3)).toBe(3 * createDispatchWindow().size(1));
    });
  });
});
