import { expect, it } from "vitest";
import { layoutBars, niceStep } from "./bar-layout.ts";

it("rounds the step of the lines up to a plain number", () => {
  expect([0, 0.9, 1.1, 2.2, 7, 9, 13, 0.0003].map(niceStep)).toEqual([1, 0.9, 2, 2.5, 8, 10, 20, 0.0003].map(niceStep));
  expect([1.1, 7, 13].map(niceStep)).toEqual([2, 8, 20]);
});

it("stacks the parts of a bar, as high as their values", () => {
  const { rects, lines } = layoutBars(
    [
      [2, 1],
      [0, 0],
      [3, 0],
    ],
    352,
  );
  expect(rects.map(({ bucket, series }) => [bucket, series])).toEqual([
    ...[
      [0, 0],
      [0, 1],
      [2, 0],
    ],
  ]);
  const [lower, upper, other] = rects;
  expect(upper!.y).toBeLessThan(lower!.y);
  expect(lower!.height + upper!.height + 2).toBeCloseTo(other!.height + 1, 6);
  expect(lines.at(-1)!.value).toBeGreaterThanOrEqual(3);
});

it("labels the last bucket and never two that overlap", () => {
  const { labels, columnWidth } = layoutBars(
    Array.from({ length: 30 }, () => [1]),
    832,
  );
  expect(labels.at(-1)!.bucket).toBe(29);
  const gaps = labels.slice(1).map(({ x }, index) => x - labels[index]!.x);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(56 - columnWidth);
});
