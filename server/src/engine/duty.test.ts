// A duty is done by one process at a time, also if its work takes longer than its lease.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createMemoryLog } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Database } from "../db/connect.ts";
import { systemClock } from "../kit/system-clock.ts";
import { type DutyContext, startDuty } from "./duty.ts";
import type { Loop } from "./loop.ts";

const LEASE_SECONDS = 0.6;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
}, 60_000);
afterAll(() => database?.stop());

const loops: Loop[] = [];
afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.stop()));
});

const { log, messages } = createMemoryLog();
const contextOf = (holder: string, db: Database = database.db): DutyContext => ({
  ...{ database: db, clock: systemClock, log, holder },
});
const start = (context: DutyContext, name: string, work: (signal: AbortSignal) => Promise<boolean>) =>
  loops.push(startDuty(context, { name, intervalMs: 20, work, leaseSeconds: LEASE_SECONDS }));

describe("a duty", () => {
  it("has no second leader while its work takes longer than its lease", async () => {
    const workers = new Set<string>();
    let most = 0;
    let finished = 0;
    const workAs = (holder: string) => async () => {
      workers.add(holder);
      most = Math.max(most, workers.size);
      await sleep(LEASE_SECONDS * 2000);
      workers.delete(holder);
      finished++;
      return false;
    };
    for (const holder of ["one", "two", "three"]) start(contextOf(holder), "duty/long", workAs(holder));
    await vi.waitFor(() => expect(finished).toBeGreaterThan(1), { timeout: 10_000 });
    expect(most).toBe(1);
  });

  it("renews its lease after a third of its length, and not in every turn", async () => {
    let [turns, renewals] = [0, 0];
    const execute: Database["execute"] = (...args) => {
      renewals++;
      return database.db.execute(...args);
    };
    const startedAt = systemClock.monotonic();
    start(contextOf("patient", { ...database.db, execute }), "duty/often", async () => ++turns < 0);
    await vi.waitFor(() => expect(turns).toBeGreaterThan(10), { timeout: 5000 });
    const thirds = (systemClock.monotonic() - startedAt) / ((LEASE_SECONDS * 1000) / 3);
    expect(renewals).toBeLessThanOrEqual(Math.floor(thirds) + 1);
    expect(renewals).toBeLessThan(turns / 2);
  });

  it("aborts its work when another process has taken its lease", async () => {
    const stopped = vi.fn();
    start(contextOf("first"), "duty/stolen", async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      stopped();
      return false;
    });
    await sleep(100);
    await database.owner.query("test.steal", "update leases set holder = 'thief', until = now() + interval '1 minute'");
    await vi.waitFor(() => expect(stopped).toHaveBeenCalledOnce(), { timeout: 5000 });
    expect(messages).toContain("the lease of a duty was lost during its work; the work is stopped");
  });

  it("aborts its work before another process can take the lease of a process that lost the database", async () => {
    let isCut = false;
    const execute: Database["execute"] = (...args) =>
      isCut ? Promise.reject(new Error("cut")) : database.db.execute(...args);
    let abortedAt = 0;
    let takenAt = 0;
    start(contextOf("cut", { ...database.db, execute }), "duty/cut", async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      abortedAt ||= systemClock.monotonic();
      return false;
    });
    await sleep(100);
    isCut = true;
    start(contextOf("healthy"), "duty/cut", async () => {
      takenAt ||= systemClock.monotonic();
      return false;
    });
    await vi.waitFor(() => expect([abortedAt, takenAt]).not.toContain(0), { timeout: 5000 });
    expect(abortedAt).toBeLessThan(takenAt);
  });
});
