import { expect, it } from "vitest";
import { createByteBudget } from "./byte-budget.ts";

/** Everything that can go on has gone on: nothing here waits for more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it("A reservation waits until earlier ones leave enough space, and keeps only what it is shrunk to", async () => {
  const budget = createByteBudget(10);
  const first = await budget.reserve(8);
  const granted: string[] = [];
  const second = budget.reserve(6).then((reservation) => {
    granted.push("second");
    return reservation;
  });
  await settled();
  expect(granted).toEqual([]);
  first.shrink(4);
  (await second).release();
  expect(granted).toEqual(["second"]);
});

it("A large reservation is not overtaken by smaller ones that ask later", async () => {
  const budget = createByteBudget(10);
  const first = await budget.reserve(5);
  const order: string[] = [];
  const large = budget.reserve(10).then((reservation) => {
    order.push("large");
    return reservation;
  });
  const small = budget.reserve(1).then(() => order.push("small"));
  await settled();
  expect(order).toEqual([]);
  first.release();
  (await large).release();
  await small;
  expect(order).toEqual(["large", "small"]);
});

it("A reservation that is larger than the whole budget is granted alone", async () => {
  const budget = createByteBudget(10);
  const huge = await budget.reserve(1000);
  let isGranted = false;
  const next = budget.reserve(1).then(() => {
    isGranted = true;
  });
  await settled();
  expect(isGranted).toBe(false);
  huge.release();
  huge.release();
  await next;
});

it("A reservation that is given up while it waits lets the next one pass", async () => {
  const budget = createByteBudget(10);
  await budget.reserve(5);
  const control = new AbortController();
  const large = budget.reserve(10, control.signal);
  const small = budget.reserve(5);
  control.abort(new Error("claim lost"));
  await expect(large).rejects.toThrow("claim lost");
  await small;
  await expect(budget.reserve(1, control.signal)).rejects.toThrow("claim lost");
});

it("A reservation grows only while the budget has space and no other reservation waits", async () => {
  const budget = createByteBudget(10);
  const first = await budget.reserve(2);
  const second = await budget.reserve(2);
  expect([first.tryGrow(9), first.tryGrow(8), second.tryGrow(3)]).toEqual([false, true, false]);
  const waiting = budget.reserve(5);
  first.shrink(4);
  expect([first.tryGrow(5), second.tryGrow(1)]).toEqual([false, true]);
  second.release();
  (await waiting).release();
  // Alone, it may exceed the budget, as a reservation may.
  expect(first.tryGrow(1000)).toBe(true);
  first.release();
  (await budget.reserve(10)).release();
});
