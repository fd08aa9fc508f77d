import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { Fault, isTransient, passesByItself } from "../faults/faults.ts";
import { backoffMs, retry } from "./retry.ts";

const away = () => new Fault("dependency_unavailable");
const backoff = { firstMs: 100, maxMs: 400 };

describe("the delay before a retry", () => {
  it("doubles with each failure up to a bound", () => {
    expect([0, 1, 2, 3, 9].map((failures) => backoffMs(backoff, failures))).toEqual([100, 200, 400, 400, 400]);
  });

  it("is spread around its time if randomness is given", () => {
    const delays = [0, 0.5, 0.999].map((number) => backoffMs({ ...backoff, random: () => number }, 1));
    expect(delays.map(Math.round)).toEqual([100, 200, 300]);
  });
});

describe("work that is repeated", () => {
  const failing = (failures: Error[]) => {
    const calls = { count: 0 };
    const work = async () => {
      const failure = failures[calls.count++];
      if (failure) throw failure;
      return calls.count;
    };
    return { calls, work };
  };
  const options = (clock: ReturnType<typeof createManualClock>) => ({
    ...{ clock, while: passesByItself },
    delayMs: (_: unknown, failures: number) => backoffMs(backoff, failures),
  });

  it("succeeds after the failures that pass, each followed by its delay", async () => {
    const clock = createManualClock();
    const { work } = failing([away(), away()]);
    const result = retry(work, options(clock));
    await clock.waitForTimer(100);
    await clock.advance(100);
    await clock.waitForTimer(200);
    await clock.advance(200);
    expect(await result).toBe(3);
  });

  it("ends with the first failure of another kind", async () => {
    const clock = createManualClock();
    const { calls, work } = failing([new Fault("run_timeout")]);
    await expect(retry(work, options(clock))).rejects.toMatchObject({ code: "run_timeout" });
    expect(calls.count).toBe(1);
  });

  it("ends during a delay when the signal is aborted, with its reason", async () => {
    const clock = createManualClock();
    const control = new AbortController();
    const { calls, work } = failing([away()]);
    const result = retry(work, { ...options(clock), signal: control.signal });
    await clock.waitForTimer(100);
    control.abort(new Error("the claim is lost"));
    await expect(result).rejects.toThrow("the claim is lost");
    expect(calls.count).toBe(1);
  });

  it("ends if the check before the next try throws", async () => {
    const clock = createManualClock();
    const { calls, work } = failing([away()]);
    const beforeRetry = () => Promise.reject(new Error("canceled"));
    const result = retry(work, { ...options(clock), beforeRetry });
    await clock.waitForTimer(100);
    await Promise.all([expect(result).rejects.toThrow("canceled"), clock.advance(100)]);
    expect(calls.count).toBe(1);
  });
});

describe("a failure", () => {
  it("that is no fault may pass, but nothing waits for it", () => {
    expect([isTransient(new Error("x")), passesByItself(new Error("x"))]).toEqual([true, false]);
  });

  it("of a request does not pass", () => {
    const fault = new Fault("validation_error");
    expect([isTransient(fault), passesByItself(fault)]).toEqual([false, false]);
  });
});
