// Leases that expired while PostgreSQL was away or because its clock was set, judged by the time since then.

import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { claimAttemptAt, claimRun } from "../../../test/support/step-fixtures.ts";
import { setUpStep } from "../../../test/support/step-setup.ts";
import { findLatestAttempt } from "../../db/attempts/attempts.ts";
import type { RunClaim } from "../../db/run-claims.ts";
import { createDatabaseSteadiness } from "./database-steadiness.ts";
import { isDatabaseSteady } from "./observe-database.ts";

const LONG_UP = 100_000;

function setUp() {
  const clock = createManualClock(1_000_000);
  const steadiness = createDatabaseSteadiness(clock, 15);
  let ahead = 7_000_000;
  const answer = (upSeconds = LONG_UP) =>
    steadiness.observe({ sentAt: clock.at, time_ms: clock.at + ahead, up_seconds: upSeconds });
  /** Reports once a second, as workers do, and returns after how many seconds expired leases count again. */
  const reportUntilSteady = (upSeconds = LONG_UP) => {
    for (let second = 0; second < 60; second++) {
      answer(upSeconds + second);
      if (steadiness.isSteady()) return second;
      clock.at += 1000;
    }
    return undefined;
  };
  const setClock = (ms: number) => {
    ahead += ms;
  };
  return { clock, steadiness, answer, reportUntilSteady, setClock };
}

describe("an outage of PostgreSQL", () => {
  it("may have just ended when a process starts, which therefore waits for the grace", () => {
    const { steadiness, reportUntilSteady } = setUp();
    expect(steadiness.isSteady()).toBe(false);
    expect(reportUntilSteady()).toBe(15);
  });

  it("lets nothing count as expired until the grace after its end is over", () => {
    const { clock, steadiness, reportUntilSteady } = setUp();
    reportUntilSteady();
    clock.at += 6000;
    expect(steadiness.isSteady()).toBe(false);
    clock.at += 120_000;
    expect(reportUntilSteady()).toBe(15);
  });

  it("between two reports is seen by the time for which PostgreSQL has been running", () => {
    const { clock, reportUntilSteady } = setUp();
    reportUntilSteady();
    clock.at += 1000;
    expect(reportUntilSteady(1)).toBe(14);
  });
});

describe("a clock of PostgreSQL that is set", () => {
  it.each([120_000, -3_600_000])("by %i ms is noticed, and nothing counts as expired until times are shifted", (ms) => {
    const { clock, steadiness, answer, reportUntilSteady, setClock } = setUp();
    reportUntilSteady();
    clock.at += 1000;
    setClock(ms);
    answer();
    expect([steadiness.jumpMs(), steadiness.isSteady()]).toEqual([ms, false]);
    expect(reportUntilSteady()).toBeUndefined();
    steadiness.shifted();
    expect([steadiness.jumpMs(), steadiness.isSteady()]).toEqual([0, false]);
    expect(reportUntilSteady()).toBe(15);
  });

  it("slowly is no jump, and neither is an answer that took long", () => {
    const { clock, steadiness, reportUntilSteady, setClock } = setUp();
    reportUntilSteady();
    for (let second = 0; second < 100; second++) {
      clock.at += 1000;
      setClock(400);
      reportUntilSteady();
    }
    const sentAt = clock.at;
    clock.at += 20_000;
    steadiness.observe({ sentAt, time_ms: sentAt + 7_040_000, up_seconds: LONG_UP });
    clock.at += 1000;
    reportUntilSteady();
    expect(steadiness.jumpMs()).toBe(0);
  });
});

describe("the times of open runs", () => {
  const { database, runtime, first, services } = setUpStep();
  const secondsLeft = async (claim: RunClaim) => {
    const sql = "select extract(epoch from deadline_at - now())::float as seconds from open_runs where run_id = $1";
    const [run] = await database.db.query<{ seconds: number }>("test.deadline", sql, [claim.run_id]);
    const { lease_seconds } = (await findLatestAttempt(database.db, claim.run_id, 0))!;
    return { deadline: Math.round(run!.seconds / 60), lease: Math.round(lease_seconds / 60) };
  };
  /** What a worker does whose last answer came from a clock that was behind by this much. */
  const observeAfterStep = async (ms: number) => {
    const steadiness = createDatabaseSteadiness(runtime.clock, 15);
    const sentAt = runtime.clock.monotonic();
    steadiness.observe({ sentAt, time_ms: Date.now() - ms, up_seconds: LONG_UP });
    return isDatabaseSteady({ ...services, steadiness });
  };

  it("are shifted once with the clock, by the first of the workers that notice it", async () => {
    const claim = await claimRun(database.db, { deadlineSeconds: 600 });
    await claimAttemptAt(database.db, claim, first);
    expect(await secondsLeft(claim)).toEqual({ deadline: 10, lease: 1 });
    expect(await observeAfterStep(3_600_000)).toBe(false);
    expect(await secondsLeft(claim)).toEqual({ deadline: 70, lease: 61 });
    expect(await observeAfterStep(3_600_000)).toBe(false);
    expect(await secondsLeft(claim)).toEqual({ deadline: 70, lease: 61 });
    expect(runtime.messages).toContain("the clock of PostgreSQL was set; the times of open runs are shifted");
  });

  it("that were accepted after the clock was set back keep their deadline", async () => {
    await database.db.query("test.forget", "delete from leases where name = 'clock'");
    const before = await claimRun(database.db, { deadlineSeconds: 600 + 3600 });
    const after = await claimRun(database.db, { deadlineSeconds: 600 });
    for (const claim of [before, after]) await claimAttemptAt(database.db, claim, first);
    await observeAfterStep(-3_600_000);
    expect((await secondsLeft(before)).deadline).toBe(10);
    expect((await secondsLeft(after)).deadline).toBe(10);
  });
});
