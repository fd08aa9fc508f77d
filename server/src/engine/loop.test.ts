// A loop repeats a function, goes on after errors, and can be woken and stopped.
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMemoryLog } from "../../test/support/queued-runs.ts";
import { type Loop, startLoop } from "./loop.ts";

let loop: Loop;
afterEach(() => loop.stop());

describe("a loop", () => {
  it("repeats immediately while there is more to do, and then pauses", async () => {
    let count = 0;
    loop = startLoop("test", 60_000, async () => ++count < 5, createMemoryLog().log);
    await vi.waitFor(() => expect(count).toBe(5));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(count).toBe(5);
  });

  it("repeats after its interval", async () => {
    let count = 0;
    loop = startLoop("test", 5, async () => ++count < 0, createMemoryLog().log);
    await vi.waitFor(() => expect(count).toBeGreaterThan(2));
  });

  it("can be woken from its pause, and repeats once more if it is woken while it works", async () => {
    let count = 0;
    loop = startLoop(
      "test",
      60_000,
      async () => {
        if (++count === 2) loop.wake();
        return false;
      },
      createMemoryLog().log,
    );
    await vi.waitFor(() => expect(count).toBe(1));
    loop.wake();
    await vi.waitFor(() => expect(count).toBe(3));
  });

  it("logs an error and continues", async () => {
    const { log, messages } = createMemoryLog();
    let count = 0;
    loop = startLoop(
      "test",
      5,
      () => (++count === 1 ? Promise.reject(new Error("once")) : Promise.resolve(false)),
      log,
    );
    await vi.waitFor(() => expect(count).toBeGreaterThan(1));
    expect(messages).toEqual(["loop iteration failed"]);
  });

  it("finishes its current work before it has stopped, and does nothing afterwards", async () => {
    let hasEnded = false;
    let count = 0;
    loop = startLoop(
      "test",
      1,
      async () => {
        count++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        hasEnded = true;
        return true;
      },
      createMemoryLog().log,
    );
    await loop.stop();
    expect([hasEnded, count]).toEqual([true, 1]);
  });
});
