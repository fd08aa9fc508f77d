import { expect, it } from "vitest";
import { daysBetween, formatDuration, formatVideoLength } from "./time.ts";

it("shows durations in the largest two units", () => {
  expect(formatDuration(45_300)).toBe("45.3 s");
  expect(formatDuration(725_000)).toBe("12 min 5 s");
  expect(formatDuration(12_000_000)).toBe("3 h 20 min");
  expect(formatDuration(-5)).toBe("0.0 s");
});

it("shows the length of a video in minutes and seconds", () => {
  expect(formatVideoLength(6)).toBe("0:06");
  expect(formatVideoLength(75)).toBe("1:15");
});

it("counts days by the calendar, not by 24 hours", () => {
  expect(daysBetween(new Date(2026, 10, 15, 23, 59), new Date(2026, 10, 16, 0, 1))).toBe(1);
  expect(daysBetween(new Date(2026, 10, 16, 0, 1), new Date(2026, 10, 16, 23, 59))).toBe(0);
});
