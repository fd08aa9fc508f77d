import { expect, it } from "vitest";
import { longMonth, monthMarks } from "./month-marks.ts";

const monthsBack = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const time = new Date(2026, 10 - index, 15);
    return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, "0")}`;
  });

it("names the newest months, the quarters of earlier years and every year", () => {
  const marks = monthMarks(monthsBack(27));
  expect(marks.slice(0, 3).map(({ label, year }) => [label, year])).toEqual([
    ["Nov", "2026"],
    ["Oct", null],
    ["Sep", null],
  ]);
  expect(marks.filter(({ year }) => year).map(({ year }) => year)).toEqual(["2026", "2025", "2024"]);
  expect(
    marks
      .slice(15)
      .filter(({ label }) => label)
      .map(({ month }) => month),
  ).toEqual([...["2025-06", "2025-03", "2024-09"]]);
});

it("names a month in full", () => {
  expect(longMonth("2024-02")).toBe("February 2024");
});
