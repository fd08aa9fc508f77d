// How much the engine is given ahead, by what it does with it.
import { describe, expect, it } from "vitest";
import { createDispatchWindow } from "./dispatch-window.ts";

const noted = (slowestMs: number, times: number) => {
  const window = createDispatchWindow();
  for (let n = 0; n < times; n++) window.recordStartDelay(slowestMs, n * 50);
  return window;
};

describe("the window", () => {
  it("grows while dispatched runs start immediately, up to a bound", () => {
    expect(noted(5, 10).size(1)).toBeGreaterThan(createDispatchWindow().size(1));
    expect(noted(5, 10_000).size(1)).toBe(100);
  });

  it("shrinks while they do not, and never to zero", () => {
    expect(noted(400, 4).size(1)).toBeLessThan(createDispatchWindow().size(1));
    expect(noted(400, 10_000).size(1)).toBe(4);
  });

  it("does not change in between", () => {
    expect(noted(100, 100).size(1)).toBe(createDispatchWindow().size(1));
  });

  it("waits for the effect of a small window before it shrinks further", () => {
    const window = createDispatchWindow();
    for (let n = 0; n < 50; n++) window.recordStartDelay(400, n);
    expect(window.size(1)).toBe(11);
  });

  it("has the same size for each worker", () => {
    expect(createDispatchWindow().size(3)).toBe(3 * createDispatchWindow().size(1));
  });
});
