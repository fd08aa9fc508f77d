// When new work is turned away: only where a queue stands, and first those who bring the most.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { Fault } from "../faults.ts";
import { createLoadShedder } from "./load-shedding.ts";

const runtime = createTestRuntime();
const pause = (ms: number) => vi.advanceTimersByTime(ms);
const codeOf = (work: () => unknown) => {
  try {
    work();
    return "let in";
  } catch (thrown) {
    return (thrown as Fault).code;
  }
};

describe("load shedding", () => {
  // Real time would add the lag of a busy machine to that of the test.
  beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "performance"] }));
  afterEach(() => vi.useRealTimers());

  it("is off while waits are short, and for a single wait that ends soon", () => {
    let waitMs = 0;
    const pressure = createLoadShedder(100, () => waitMs, runtime);
    expect(pressure.isOverloaded()).toBe(false);
    waitMs = 5000;
    pause(300);
    waitMs = 0;
    pause(1000);
    expect(pressure.isOverloaded()).toBe(false);
  });

  it("refuses a tenant that has its share, admits another, and ends with the queue", () => {
    let waitMs = 0;
    const pressure = createLoadShedder(100, () => waitMs, runtime);
    const leave = Array.from({ length: 40 }, () => pressure.begin("loud"));
    waitMs = 500;
    pause(1300);
    expect(pressure.isOverloaded()).toBe(true);
    expect(codeOf(() => pressure.begin("loud"))).toBe("service_overloaded");
    expect(codeOf(() => pressure.begin("quiet"))).toBe("let in");
    for (const each of leave.slice(0, 39)) each();
    expect(codeOf(() => pressure.begin("loud"))).toBe("let in");
    waitMs = 0;
    pause(200);
    expect(pressure.isOverloaded()).toBe(false);
  });

  it("admits a tenant whose own queries do not wait, whatever those of another do", () => {
    const pressure = createLoadShedder(100, (tenantId) => (tenantId === "quick" ? 0 : 500), runtime);
    for (let n = 0; n < 20; n++) for (const tenantId of ["loud", "quick"]) pressure.begin(tenantId);
    pause(1300);
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

  it("responds with a retry delay", () => {
    const pressure = createLoadShedder(1, () => 1000, runtime);
    pause(1300);
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

  it("can be disabled", () => {
    const pressure = createLoadShedder(0, () => 10_000, runtime);
    pause(1300);
    expect(pressure.isOverloaded()).toBe(false);
  });
});
