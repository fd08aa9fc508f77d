// A run that kills every worker that stores its results is found and stopped, and runs beside it complete. The
// processes share a directory, a database and a clock, which the test moves; one that dies never continues.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectOnClock, installDatabaseClock } from "../../../test/support/database-clock.ts";
import { createManualClock, type ManualClock } from "../../../test/support/manual-clock.ts";
import { createMemoryLog } from "../../../test/support/queued-runs.ts";
import { claimRun } from "../../../test/support/step-fixtures.ts";
import { startTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { retryOpenRun } from "../../db/admin/repair-runs.ts";
import type { Database } from "../../db/connect.ts";
import { QUARANTINE_DEADLINE, type RunClaim } from "../../db/run-claims.ts";
import { countWorkerDeaths } from "../../db/runs/suspect-runs.ts";
import { createSuspectRuns, type SuspectRuns } from "./suspect-runs.ts";
import { createWorkMarks, type WorkMarks } from "./work-marks.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
  await installDatabaseClock(database);
});
afterAll(() => database?.stop());

let directory: string;
let clock: ManualClock;
let db: Database;
let messages: string[];
/** Processes that are alive. */
let alive: Set<SuspectRuns>;
let living: Set<string>;
const names = new WeakMap<SuspectRuns, string>();
let stored: string[];
let inProgress: Set<Promise<unknown>>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "gesso-suspects-"));
  clock = createManualClock();
  db = connectOnClock(database, clock);
  await db.query("test.clear", "delete from open_runs");
  [alive, living, stored, messages, inProgress] = [new Set(), new Set(), [], [], new Set()];
  clock.settleWith(async () => void (await Promise.all(inProgress)));
});
afterEach(async () => {
  await db.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The clock waits for file operations before it fires the next timer. */
const trackFiles = (marks: WorkMarks): WorkMarks => {
  const isMarkedElsewhere = (runId: string) => {
    const result = marks.isMarkedElsewhere(runId);
    const ended: Promise<unknown> = result.finally(() => inProgress.delete(ended));
    inProgress.add(ended);
    return result;
  };
  return { ...marks, isMarkedElsewhere };
};
const start = async (spoolDirectory = directory): Promise<SuspectRuns> => {
  const memory = createMemoryLog();
  messages = memory.messages;
  const name = v7();
  living.add(name);
  const isAlive = async (process: string) => living.has(process);
  const marks = trackFiles(createWorkMarks({ SPOOL_DIR: spoolDirectory }, { name, isAlive }));
  const suspects = createSuspectRuns({ database: db, clock, log: memory.log, marks });
  names.set(suspects, name);
  await suspects.update();
  alive.add(suspects);
  return suspects;
};
/** All living processes update every two seconds. */
const pass = async (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 2) {
    await clock.advance(2000);
    for (const suspects of alive) await suspects.update();
  }
};
const store = (on: SuspectRuns, { run_id }: RunClaim) => on.guard(run_id, async () => stored.push(run_id));
/** The engine repeats the step until it succeeds. */
const storeInTheEnd = async (on: SuspectRuns, run: RunClaim) => {
  const work = { isDone: false };
  const repeat = async (): Promise<void> => {
    await store(on, run).catch(repeat);
    work.isDone = true;
  };
  void repeat();
  while (!work.isDone) await pass(2);
};
/** The process dies when it has begun to store the last of these runs. */
const dieStoring = async (on: SuspectRuns, ...runs: RunClaim[]) => {
  for (const { run_id } of runs) {
    const begun = { isBegun: false };
    const repeat = (): void =>
      void on
        .guard(run_id, () => {
          begun.isBegun = true;
          return new Promise(() => {});
        })
        .catch(repeat);
    repeat();
    while (!begun.isBegun) await pass(2);
  }
  alive.delete(on);
  living.delete(names.get(on)!);
};
/** As if a worker with a directory of its own had died. */
const countDeath = ({ run_id }: RunClaim) => countWorkerDeaths(db, [{ run_id, wasApart: false, process: v7() }]);
const deathsOf = async ({ run_id }: RunClaim) => {
  const sql = "select deaths from suspect_runs where run_id = $1";
  return (await db.query<{ deaths: number }>("test.deaths", sql, [run_id]))[0]?.deaths ?? 0;
};
const isQuarantined = async ({ run_id }: RunClaim) => {
  const sql = "select deadline_at = $2 as is_quarantined from open_runs where run_id = $1";
  const [row] = await db.query<{ is_quarantined: boolean }>("test.state", sql, [run_id, QUARANTINE_DEADLINE]);
  return row!.is_quarantined;
};

describe("a run that kills every worker that stores its results", () => {
  it("is in quarantine after the third death, and the runs beside it are stored", async () => {
    const poison = await claimRun(db);
    const beside = [await claimRun(db), await claimRun(db)];
    const [first, second, third, fourth] = [await start(), await start(), await start(), await start()];
    await dieStoring(first, ...beside, poison);
    await pass(20);
    expect(await Promise.all([poison, ...beside].map(deathsOf))).toEqual([1, 1, 1]);
    for (const run of beside) await storeInTheEnd(third, run);
    await dieStoring(second, poison);
    await pass(20);
    expect([await deathsOf(poison), await isQuarantined(poison)]).toEqual([2, false]);
    await dieStoring(third, poison);
    await pass(20);
    expect([await deathsOf(poison), await isQuarantined(poison)]).toEqual([3, true]);
    expect(await Promise.all(beside.map(isQuarantined))).toEqual([false, false]);
    expect(stored).toEqual(beside.map(({ run_id }) => run_id));
    expect(messages).toContain("the run is in quarantine: workers die while they store its results");
    const entries = "select user_id, action, details from audit_log where subject = $1";
    expect(await db.query("test.entries", entries, [poison.run_id])).toMatchObject([
      { user_id: "gesso", action: "admin.quarantine", details: { reason: "worker_died", deaths: 3 } },
    ]);
    // An invocation of the epoch before finds out that it has lost the run.
    await pass(60);
    expect(await store(fourth, poison)).toBeUndefined();
  });

  it("is stored again when an operator retries it", async () => {
    const poison = await claimRun(db);
    for (let death = 0; death < 3; death++) {
      await countWorkerDeaths(db, [{ run_id: poison.run_id, wasApart: true, process: v7() }]);
    }
    expect(await isQuarantined(poison)).toBe(true);
    const operator = { tenant_id: poison.tenant_id, user_id: "olga", key_id: null };
    const worker = await start();
    await retryOpenRun(db, operator, { run_id: poison.run_id, deadlineSeconds: 600 });
    await pass(2);
    await store(worker, poison);
    expect([stored, await deathsOf(poison)]).toEqual([[poison.run_id], 0]);
  });

  it("kills at most one worker of those that share a directory before its first death is counted", async () => {
    const poison = await claimRun(db);
    const [first, second] = [await start(), await start()];
    await dieStoring(first, poison);
    const early = store(second, poison).catch(() => "held back");
    await pass(8);
    expect(await second.isHeldBack(poison.run_id)).toBe(true);
    expect(stored).toEqual([]);
    await pass(20);
    await early;
  });
});

describe("a healthy run", () => {
  it("is not in quarantine however often it was beside a run that kills workers", async () => {
    const healthy = await claimRun(db);
    // Workers with directories of their own: each dies before the deaths of the others are counted.
    for (let death = 0; death < 4; death++) await countDeath(healthy);
    expect([await deathsOf(healthy), await isQuarantined(healthy)]).toEqual([4, false]);
    await storeInTheEnd(await start(), healthy);
    expect(stored).toEqual([healthy.run_id]);
  });

  it("has the death of its worker counted once, although each process that counts it dies soon after", async () => {
    const healthy = await claimRun(db);
    const [first, ...others] = [await start(), await start(), await start(), await start(), await start()];
    await dieStoring(first!, healthy);
    for (const counting of others.slice(0, 3)) {
      for (const other of alive) if (other === counting) await other.update();
      expect(await deathsOf(healthy)).toBe(1);
      alive.delete(counting);
      living.delete(names.get(counting)!);
    }
    await storeInTheEnd(others[3]!, healthy);
    expect(stored).toEqual([healthy.run_id]);
  });

  it("has two marks if it became a suspect while it was being stored, which count as one death", async () => {
    const healthy = await claimRun(db);
    const [first, second] = [await start(), await start()];
    await dieStoring(first, healthy);
    writeFileSync(join(directory, "marks", names.get(first)!, `${healthy.run_id}.apart`), "");
    await second.update();
    expect([await deathsOf(healthy), await isQuarantined(healthy)]).toEqual([1, false]);
  });

  it("that is suspected is not stored beside another suspect", async () => {
    const runs = [await claimRun(db), await claimRun(db)];
    const process = v7();
    await countWorkerDeaths(
      db,
      runs.map(({ run_id }) => ({ run_id, wasApart: false, process })),
    );
    const worker = await start();
    await pass(12);
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun: string[] = [];
    const ends = runs.map(({ run_id }) =>
      worker.guard(run_id, async () => {
        begun.push(run_id);
        await promise;
        return run_id;
      }),
    );
    await expect.poll(() => begun.length).toBe(1);
    await pass(4);
    expect(begun).toHaveLength(1);
    resolve();
    expect(await Promise.all(ends)).toEqual(runs.map(({ run_id }) => run_id));
  });

  it("that is suspected is stored by one worker at a time, also if they share no directory", async () => {
    const run = await claimRun(db);
    await countDeath(run);
    const elsewhere = mkdtempSync(join(tmpdir(), "gesso-suspects-"));
    const [here, there] = [await start(), await start(elsewhere)];
    await pass(12);
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = here.guard(run.run_id, () => {
      begun.resolve();
      return promise;
    });
    await begun.promise;
    await expect(store(there, run)).rejects.toMatchObject({ code: "dependency_unavailable" });
    resolve();
    await first;
    await pass(2);
    expect(await store(there, run)).toBe(1);
    rmSync(elsewhere, { recursive: true, force: true });
  });

  it("costs no statement, and is stored although its mark cannot be written", async () => {
    const run = await claimRun(db);
    const worker = await start();
    await worker.close();
    const failing = { ...db, execute: () => Promise.reject(new Error("a statement")) } as unknown as Database;
    writeFileSync(join(directory, "file"), "");
    const marks = createWorkMarks({ SPOOL_DIR: join(directory, "file") }, { name: v7(), isAlive: async () => true });
    const suspects = createSuspectRuns({ database: failing, clock, log: createMemoryLog().log, marks });
    expect(await store(suspects, run)).toBe(1);
  });

  it("is forgotten as a suspect when it has ended", async () => {
    const run = await claimRun(db);
    await countDeath(run);
    await db.query("test.end", "delete from open_runs where run_id = $1", [run.run_id]);
    await (await start()).update();
    expect(await deathsOf(run)).toBe(0);
  });
});
