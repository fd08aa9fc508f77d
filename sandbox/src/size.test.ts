// Every combination of size fields gives a size that can be drawn.
import { expect, test } from "vitest";
import { resolveSize } from "./size.ts";

test("the default is a square of a megapixel", () => {
  expect(resolveSize({})).toEqual({ width: 1024, height: 1024 });
});

test("a size has priority over an aspect ratio", () => {
  expect(resolveSize({ width: 300, height: 200, aspect_ratio: "1:1" })).toEqual({ width: 300, height: 200 });
});

test("an aspect ratio completes one side", () => {
  expect(resolveSize({ width: 640, aspect_ratio: "16:9" })).toEqual({ width: 640, height: 360 });
  expect(resolveSize({ height: 640, aspect_ratio: "1:2" })).toEqual({ width: 320, height: 640 });
});

test.each(["1:1", "16:9", "9:16", "4:3", "3:2", "21:9"])(
  "%s is about a megapixel of that shape in steps of 8",
  (ratio) => {
    const { width, height } = resolveSize({ aspect_ratio: ratio });
    const [across, down] = ratio.split(":").map(Number) as [number, number];
    expect(width / height).toBeCloseTo(across / down, 1);
    expect(Math.abs(width * height - 1024 * 1024)).toBeLessThan(25_000);
    expect([width % 8, height % 8]).toEqual([0, 0]);
  },
);

test("an extreme shape stays within the limits", () => {
  expect(resolveSize({ aspect_ratio: "100:1" })).toEqual({ width: 2048, height: 24 });
  expect(resolveSize({ aspect_ratio: "1:9999" })).toEqual({ width: 16, height: 2048 });
});
