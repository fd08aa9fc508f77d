// Every combination of size fields gives a size that can be drawn.
import { expect, test } from "vitest";
import { resolveSize, withSide } from "./size.ts";

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

test("a sandbox with a smaller side adds a size of the same shape to requests without one", () => {
  const image = { task: "image.generate" };
  expect(withSide(image, 256)).toEqual({ ...image, width: 256, height: 256 });
  expect(withSide({ ...image, aspect_ratio: "16:9" }, 256)).toMatchObject({ width: 344, height: 192 });
  expect(withSide({ task: "video.generate" }, 256)).toMatchObject({ width: 344, height: 192 });
  expect(withSide({ ...image, width: 640 }, 256)).toEqual({ ...image, width: 640 });
  expect(withSide({ task: "image.edit" }, 256)).toEqual({ task: "image.edit" });
  expect(withSide(image, 1024)).toEqual(image);
});
