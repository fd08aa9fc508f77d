// Slots are given in order, and a failure releases its slot.
import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

test("no more than the given number run at once, and all run in order", async () => {
  const inTurn = createSemaphore(2);
  const begun: number[] = [];
  let [busy, most] = [0, 0];
  const work = (number: number) => async () => {
    begun.push(number);
    busy += 1;
    most = Math.max(most, busy);
    await new Promise((resolve) => setTimeout(resolve, 5));
    busy -= 1;
    if (number === 1) throw new Error("no");
    return number;
  };
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map((number) => inTurn(work(number))));
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
});
