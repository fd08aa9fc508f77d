import { expect, it } from "vitest";
import { justifyRows } from "./gallery-rows.ts";

const layout = { width: 1000, targetHeight: 200, gap: 6 };

it("fills every row but the last exactly", () => {
  const ratios = Array.from({ length: 40 }, (_, index) => [1.5, 0.66, 1, 1.78][index % 4]!);
  const rows = justifyRows(ratios, layout);
  for (const { widths, height } of rows.slice(0, -1)) {
    const total = widths.reduce((sum, width) => sum + width, 0) + layout.gap * (widths.length - 1);
    expect(total).toBeCloseTo(1000);
    expect(height).toBeLessThanOrEqual(200);
  }
  expect(rows.reduce((count, { widths }) => count + widths.length, 0)).toBe(40);
  expect(rows.map(({ first }) => first)).toEqual([...rows.map(({ first }) => first)].sort((a, b) => a - b));
});

it("does not blow up a single tile", () => {
  expect(justifyRows([1], layout)).toEqual([{ height: 200, widths: [200], first: 0 }]);
});

it("fits a tile that is wider than the page", () => {
  const [row] = justifyRows([10], layout);
  expect(row?.widths[0]).toBeCloseTo(1000);
  expect(justifyRows([], layout)).toEqual([]);
});
