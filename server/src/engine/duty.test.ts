// A duty is done by one process at a time, also if its work takes longer than its lease. All processes and the database
// are on one clock, which the test moves.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../test/support/database-clock.ts";
import { createManualClock, type ManualClock } from "../../test/support/manual-clock.ts";
import { createMemoryLog } from "../../test/support/queued-runs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import type { Database } from "../db/connect.ts";
import { type DutyContext, startDuty } from "./duty.ts";
import type { Loop } from "./loop.ts";

const LEASE_MS = 15_000;
const RENEWAL_MS = LEASE_MS / 3;
const INTERVAL_MS = 1000;
const LOST = "the lease of a duty was lost during its work; the work is stopped";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
});
afterAll(() => database?.stop());

let clock: ManualClock;
let db: Database;
let messages: string[];
let contextOf: (holder: string, on?: Database) => DutyContext;
const loops: Loop[] = [];
beforeEach(async () => {
  clock = createManualClock();
  db = connectOnClock(database, clock);
  const memory = createMemoryLog();
  messages = memory.messages;
  contextOf = (holder, on = db) => ({ database: on, clock, log: memory.log, holder });
  await db.query("test.clear", "delete from leases");
});
afterEach(async () => {
  const stopped = Promise.all(loops.splice(0).map((loop) => loop.stop()));
  // Work that sleeps on the clock ends only if time goes on.
  await clock.advance(10 * LEASE_MS);
  await stopped;
  await db.close();
});

const start = (context: DutyContext, work: (signal: AbortSignal) => Promise<boolean>) =>
  loops.push(startDuty(context, { name: "duty/test", intervalMs: INTERVAL_MS, work }));
const untilAborted = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener("abort", resolve));

describe("a duty", () => {
  it("has no second leader while its work takes longer than its lease", async () => {
    const workers = new Set<string>();
    let most = 0;
    let finished = 0;
    const workAs = (holder: string) => async () => {
      workers.add(holder);
      most = Math.max(most, workers.size);
      await clock.sleep(3 * LEASE_MS);
      workers.delete(holder);
      finished++;
      return false;
    };
    for (const holder of ["one", "two", "three"]) start(contextOf(holder), workAs(holder));
    await clock.advance(7 * LEASE_MS);
    expect([most, finished]).toEqual([1, 2]);
    expect(messages).toEqual([]);
  });

  it("renews its lease after a third of its length, and not in every turn", async () => {
    let turns = 0;
    const renewedAt: number[] = [];
    const execute: Database["execute"] = (...args) => {
      renewedAt.push(clock.at);
      return db.execute(...args);
    };
    start(contextOf("patient", { ...db, execute }), async () => ++turns < 0);
    await clock.advance(3 * RENEWAL_MS + INTERVAL_MS / 2);
    expect(turns).toBe(16);
    expect(renewedAt).toEqual([0, RENEWAL_MS, 2 * RENEWAL_MS, 3 * RENEWAL_MS]);
  });

  it("aborts its work when another process has taken its lease", async () => {
    let abortedAt: number | undefined;
    start(contextOf("first"), async (signal) => {
      await untilAborted(signal);
      abortedAt ??= clock.at;
      return false;
    });
    await clock.advance(RENEWAL_MS / 2);
    await db.query("test.steal", "update leases set holder = 'thief', until = now() + interval '10 minutes'");
    await clock.advance(RENEWAL_MS / 2 - 1);
    expect(abortedAt).toBeUndefined();
    await clock.advance(1);
    expect([abortedAt, messages]).toEqual([RENEWAL_MS, [LOST]]);
  });

  it("aborts its work before another process can take the lease of a process that lost the database", async () => {
    let isCut = false;
    const execute: Database["execute"] = (...args) => (isCut ? Promise.reject(new Error("cut")) : db.execute(...args));
    let abortedAt: number | undefined;
    let takenAt: number | undefined;
    start(contextOf("cut", { ...db, execute }), async (signal) => {
      await untilAborted(signal);
      abortedAt ??= clock.at;
      return false;
    });
    await clock.waitForTimer(LEASE_MS);
    isCut = true;
    start(contextOf("healthy"), async () => {
      takenAt ??= clock.at;
      return false;
    });
    await clock.advance(LEASE_MS);
    expect([abortedAt, takenAt]).toEqual([LEASE_MS, undefined]);
    await clock.advance(INTERVAL_MS);
    expect(takenAt).toBe(LEASE_MS + INTERVAL_MS);
  });

  it("leaves no timers behind when it has stopped", async () => {
    start(contextOf("only"), async () => false);
    await clock.advance(INTERVAL_MS);
    await loops.splice(0)[0]!.stop();
    expect(clock.timers()).toEqual([]);
  });
});
