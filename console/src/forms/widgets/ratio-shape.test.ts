import { expect, it } from "vitest";
import { COMMON_RATIOS, parseRatio, ratioShape } from "./ratio-shape.ts";

it("reads ratios", () => {
  expect(parseRatio("16:9")).toBeCloseTo(16 / 9);
  expect(parseRatio("auto")).toBeUndefined();
});

it("keeps the shape of every ratio within the box", () => {
  for (const ratio of [...COMMON_RATIOS, "21:9", "9:21", "99:1", "1:99"]) {
    const { width, height } = ratioShape(ratio);
    expect(width).toBeLessThanOrEqual(22);
    expect(height).toBeLessThanOrEqual(18);
  }
  expect(ratioShape("1:1")).toEqual({ width: 14, height: 14 });
});
