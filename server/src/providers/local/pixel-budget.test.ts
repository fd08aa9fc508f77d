import { expect, it, vi } from "vitest";
import { readProviderFailure } from "../call-provider.ts";
import { withPixelBudget } from "./pixel-budget.ts";

const job = () => {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { ended, end };
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

it("starts a job only when its pixels fit beside those of running jobs, in order", async () => {
  const begun: string[] = [];
  const [first, second, third] = [job(), job(), job()];
  const work =
    (name: string, { ended }: { ended: Promise<void> }) =>
    async () => {
      begun.push(name);
      await ended;
    };
  const all = [
    withPixelBudget(60e6, work("first", first)),
    withPixelBudget(60e6, work("second", second)),
    withPixelBudget(1e6, work("third", third)),
  ];
  await turn();
  expect(begun).toEqual(["first"]);
  first.end();
  await turn();
  expect(begun).toEqual(["first", "second", "third"]);
  second.end();
  third.end();
  await Promise.all(all);
});

it("gives a job that exceeds the budget all of it", async () => {
  expect(await withPixelBudget(900e6, async () => "done")).toBe("done");
});

it("releases pixels when a job fails", async () => {
  await expect(withPixelBudget(100e6, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await withPixelBudget(100e6, async () => "done")).toBe("done");
});

it("refuses a job that would wait too long as busy, and starts the jobs behind it", async () => {
  vi.useFakeTimers();
  try {
    const first = job();
    const held = withPixelBudget(60e6, () => first.ended);
    const large = withPixelBudget(60e6, async () => "large").catch((thrown) => readProviderFailure(thrown).kind);
    const begun: string[] = [];
    vi.advanceTimersByTime(9000);
    const small = withPixelBudget(1e6, async () => begun.push("small"));
    expect(begun).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(await large).toBe("busy");
    await small;
    expect(begun).toEqual(["small"]);
    first.end();
    await held;
  } finally {
    vi.useRealTimers();
  }
});
