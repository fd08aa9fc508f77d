// The longest time without an event, as drills report it.
import { expect, it } from "vitest";
import { longestGap } from "./drill-figures.ts";

it("counts from the disturbance to the first event, between events, and up to the next disturbance", () => {
  expect(longestGap([90, 150, 160], 100, 170)).toBe(50);
  expect(longestGap([110, 180, 190], 100, 200)).toBe(70);
  expect(longestGap([110, 120], 100, 200)).toBe(80);
  expect(longestGap([], 100, 200)).toBe(100);
});

it("ends with the last event if no disturbance follows", () => {
  expect(longestGap([110, 140], 100, Number.POSITIVE_INFINITY)).toBe(30);
});
