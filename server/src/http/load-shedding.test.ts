// When new work is turned away: only where a queue stands, and first those who bring the most.
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/support/manual-clock.ts";
import { Fault } from "../faults/faults.ts";
import { createLoadShedder } from "./load-shedding.ts";

let clock: ManualClock;
let runtime: { clock: ManualClock; random: () => number };
beforeEach(() => {
  clock = createManualClock();
  runtime = { clock, random: Math.random };
});
const pause = (ms: number) => clock.advance(ms);
const codeOf = (work: () => unknown) => {
  try {
    work();
    return "let in";
  } catch (thrown) {
    return (thrown as Fault).code;
  }
};

describe("load shedding", () => {
  it("is off while waits are short, and for a single wait that ends soon", async () => {
    let waitMs = 0;
    const pressure = createLoadShedder(100, () => waitMs, runtime);
    expect(pressure.isOverloaded()).toBe(false);
    waitMs = 5000;
    await pause(300);
    waitMs = 0;
    await pause(1000);
    expect(pressure.isOverloaded()).toBe(false);
  });

  it("refuses a tenant that has its share, admits another, and ends with the queue", async () => {
    let waitMs = 0;
    const pressure = createLoadShedder(100, () => waitMs, runtime);
    const leave = Array.from({ length: 40 }, () => pressure.begin("loud"));
    waitMs = 500;
    await pause(1300);
    expect(pressure.isOverloaded()).toBe(true);
    expect(codeOf(() => pressure.begin("loud"))).toBe("service_overloaded");
    expect(codeOf(() => pressure.begin("quiet"))).toBe("let in");
    for (const each of leave.slice(0, 39)) each();
    expect(codeOf(() => pressure.begin("loud"))).toBe("let in");
    waitMs = 0;
    await pause(200);
    expect(pressure.isOverloaded()).toBe(false);
  });

  it("admits a tenant whose own queries do not wait, whatever those of another do", async () => {
    const pressure = createLoadShedder(100, (tenantId) => (tenantId === "quick" ? 0 : 500), runtime);
    for (let n = 0; n < 20; n++) for (const tenantId of ["loud", "quick"]) pressure.begin(tenantId);
    await pause(1300);
    expect(pressure.isOverloaded()).toBe(true);
    expect(codeOf(() => pressure.begin("loud"))).toBe("service_overloaded");
    expect(codeOf(() => pressure.begin("quick"))).toBe("let in");
  });

  it("counts the end of a request once, even if it is reported twice", () => {
    const pressure = createLoadShedder(100, () => 0, runtime);
    const leave = pressure.begin("a");
    leave();
    leave();
    expect(codeOf(() => pressure.begin("a"))).toBe("let in");
  });

  it("responds with a retry delay", async () => {
    const pressure = createLoadShedder(1, () => 1000, runtime);
    await pause(1300);
    for (let n = 0; n < 16; n++) pressure.begin("a");
    const thrown = (() => {
      try {
        pressure.begin("a");
      } catch (caught) {
        return caught;
      }
    })();
    expect(thrown).toBeInstanceOf(Fault);
    expect((thrown as Fault).details.retry_after).toBeGreaterThanOrEqual(1);
  });

  it("counts the lag of the event loop, and ignores a single stall", async () => {
    const pressure = createLoadShedder(100, () => 0, runtime);
    for (let n = 0; n < 16; n++) pressure.begin("a");
    await pause(1000);
    clock.at += 5000;
    await pause(0);
    expect(pressure.isOverloaded()).toBe(false);
    for (let n = 0; n < 3; n++) {
      clock.at += 1000;
      await pause(0);
    }
    expect(pressure.isOverloaded()).toBe(true);
    expect(codeOf(() => pressure.begin("a"))).toBe("service_overloaded");
  });

  it("can be disabled", async () => {
    const pressure = createLoadShedder(0, () => 10_000, runtime);
    await pause(1300);
    expect(pressure.isOverloaded()).toBe(false);
  });
});
