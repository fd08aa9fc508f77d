import { expect, it } from "vitest";
import { createUnknownKeyLimit } from "./unknown-key-limit.ts";

it("allows a minute's attempts at once, then refills steadily, for each address on its own", () => {
  let now = 0;
  const limit = createUnknownKeyLimit(60, { monotonic: () => now });
  for (let attempt = 0; attempt < 60; attempt++) {
    expect(limit.secondsUntilAllowed("a")).toBe(0);
    limit.recordUnknownKey("a");
  }
  expect(limit.secondsUntilAllowed("a")).toBe(1);
  expect(limit.secondsUntilAllowed("b")).toBe(0);
  now += 1000;
  expect(limit.secondsUntilAllowed("a")).toBe(0);
  limit.recordUnknownKey("a");
  expect(limit.secondsUntilAllowed("a")).toBe(1);
  now += 60_000;
  expect(limit.secondsUntilAllowed("a")).toBe(0);
});

it("allows everything if the limit is 0", () => {
  const limit = createUnknownKeyLimit(0, { monotonic: () => 0 });
  for (let attempt = 0; attempt < 1000; attempt++) limit.recordUnknownKey("a");
  expect(limit.secondsUntilAllowed("a")).toBe(0);
});

it("remembers a bounded number of addresses", () => {
  const limit = createUnknownKeyLimit(1, { monotonic: () => 0 });
  limit.recordUnknownKey("first");
  expect(limit.secondsUntilAllowed("first")).toBeGreaterThan(0);
  for (let n = 0; n < 10_000; n++) limit.recordUnknownKey(`address ${n}`);
  expect(limit.secondsUntilAllowed("first")).toBe(0);
});

it("tells how many seconds are left, rounded up", () => {
  let now = 5000;
  const limit = createUnknownKeyLimit(6, { monotonic: () => now });
  for (let attempt = 0; attempt < 7; attempt++) limit.recordUnknownKey("a");
  expect(limit.secondsUntilAllowed("a")).toBe(20);
  now += 500;
  expect(limit.secondsUntilAllowed("a")).toBe(20);
  now += 9500;
  expect(limit.secondsUntilAllowed("a")).toBe(10);
  now += 3_600_000;
  for (let attempt = 0; attempt < 5; attempt++) limit.recordUnknownKey("a");
  expect(limit.secondsUntilAllowed("a")).toBe(0);
});

it("forgets the address whose last attempt is the oldest", () => {
  const limit = createUnknownKeyLimit(1, { monotonic: () => 0 });
  for (const address of ["first", "second", "first"]) limit.recordUnknownKey(address);
  for (let n = 0; n < 9999; n++) limit.recordUnknownKey(`address ${n}`);
  expect([limit.secondsUntilAllowed("first") > 0, limit.secondsUntilAllowed("second")]).toEqual([true, 0]);
});
