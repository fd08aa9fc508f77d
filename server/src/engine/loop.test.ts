// A loop repeats a function, goes on after errors, and can be woken and stopped.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/support/manual-clock.ts";
import { createMemoryLog } from "../../test/support/queued-runs.ts";
import { type Loop, startLoop } from "./loop.ts";

const INTERVAL_MS = 60_000;
let clock: ManualClock;
let messages: string[];
let loop: Loop;
const start = (runOnce: () => Promise<boolean>) => {
  const memory = createMemoryLog();
  messages = memory.messages;
  loop = startLoop({ clock, log: memory.log }, "test", INTERVAL_MS, runOnce);
};
beforeEach(() => {
  clock = createManualClock();
});
afterEach(() => loop.stop());

describe("a loop", () => {
  it("repeats immediately while there is more to do, and then pauses", async () => {
    let count = 0;
    start(async () => ++count < 5);
    await clock.waitForTimer(INTERVAL_MS);
    expect(count).toBe(5);
    await clock.advance(INTERVAL_MS - 1);
    expect(count).toBe(5);
  });

  it("repeats after its interval", async () => {
    let count = 0;
    start(async () => ++count < 0);
    await clock.advance(3 * INTERVAL_MS);
    expect(count).toBe(4);
  });

  it("can be woken from its pause, and repeats once more if it is woken while it works", async () => {
    let count = 0;
    start(async () => {
      if (++count === 2) loop.wake();
      return false;
    });
    await clock.waitForTimer(INTERVAL_MS);
    expect(count).toBe(1);
    loop.wake();
    await clock.waitForTimer(INTERVAL_MS);
    expect(count).toBe(3);
    expect(clock.timers()).toHaveLength(1);
  });

  it("logs an error and continues", async () => {
    let count = 0;
    start(() => (++count === 1 ? Promise.reject(new Error("once")) : Promise.resolve(false)));
    await clock.advance(INTERVAL_MS);
    expect(count).toBe(2);
    expect(messages).toEqual(["loop iteration failed"]);
  });

  it("finishes its current work before it has stopped, and does nothing afterwards", async () => {
    const work = Promise.withResolvers<void>();
    let hasEnded = false;
    let count = 0;
    start(async () => {
      count++;
      await work.promise;
      hasEnded = true;
      return true;
    });
    const stopped = loop.stop().then(() => hasEnded);
    work.resolve();
    expect(await stopped).toBe(true);
    expect([count, clock.timers()]).toEqual([1, []]);
  });
});
