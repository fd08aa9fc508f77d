import { expect, it } from "vitest";
import { daysIn, formatDay, formatLongDay, listDays, rangeBefore, rangeOf } from "./date-range.ts";

const NOON = Date.parse("2026-11-15T12:00:00Z");

it("ends today and begins as many days before as the period has", () => {
  expect(rangeOf("today", NOON)).toEqual({ from: "2026-11-15", to: "2026-11-15" });
  expect(rangeOf("30", NOON)).toEqual({ from: "2026-10-17", to: "2026-11-15" });
  expect(daysIn(rangeOf("year", NOON))).toBe(365);
});

it("compares with as many days directly before", () => {
  expect(rangeBefore({ from: "2026-11-09", to: "2026-11-15" })).toEqual({ from: "2026-11-02", to: "2026-11-08" });
});

it("lists every day, also over the change of the clock and of the month", () => {
  expect(listDays({ from: "2026-10-24", to: "2026-10-26" })).toEqual(["2026-10-24", "2026-10-25", "2026-10-26"]);
  expect(listDays({ from: "2026-10-31", to: "2026-11-01" })).toEqual(["2026-10-31", "2026-11-01"]);
});

it("names days in UTC", () => {
  expect([formatDay("2026-10-07"), formatLongDay("2026-11-15")]).toEqual(["7 Oct", "15 November 2026"]);
});
