// Leases that expired while PostgreSQL was away, judged by the time since it is back.
import { expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createDatabaseSteadiness } from "./database-steadiness.ts";

const LONG_UP = 100_000;

function setUp() {
  const clock = createManualClock(1_000_000);
  const steadiness = createDatabaseSteadiness(clock, 15);
  /** Reports once a second, as workers do, and returns after how many seconds expired leases count again. */
  const reportUntilSteady = (upSeconds = LONG_UP) => {
    for (let second = 0; second < 60; second++) {
      steadiness.observe({ upSeconds: upSeconds + second });
      if (steadiness.isSteady()) return second;
      clock.at += 1000;
    }
    return undefined;
  };
  return { clock, steadiness, reportUntilSteady };
}

it("a process that has just started waits for the grace, because an outage may have just ended", () => {
  const { steadiness, reportUntilSteady } = setUp();
  expect(steadiness.isSteady()).toBe(false);
  expect(reportUntilSteady()).toBe(15);
});

it("while PostgreSQL does not answer, nothing counts as expired, and not until the grace after its return is over", () => {
  const { clock, steadiness, reportUntilSteady } = setUp();
  reportUntilSteady();
  clock.at += 6000;
  expect(steadiness.isSteady()).toBe(false);
  clock.at += 120_000;
  expect(reportUntilSteady()).toBe(15);
});

it("a restart of PostgreSQL between two reports begins the grace too", () => {
  const { clock, reportUntilSteady } = setUp();
  reportUntilSteady();
  clock.at += 1000;
  expect(reportUntilSteady(1)).toBe(14);
});
