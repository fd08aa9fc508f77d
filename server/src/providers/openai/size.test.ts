import fc from "fast-check";
import { expect, it } from "vitest";
import { openaiOffers } from "./offers.ts";
import { nearestSizeTo, sizeOf } from "./size.ts";

const [anySize, threeSizes] = [openaiOffers[0]!, openaiOffers[1]!];

it("an image under a mask keeps its aspect ratio within 1 %", () => {
  const side = fc.integer({ min: 16, max: 4000 });
  const shaped = fc.tuple(side, side).filter(([width, height]) => width <= height * 3 && height <= width * 3);
  fc.assert(
    fc.property(shaped, ([width, height]) => {
      const [across = 0, down = 0] = nearestSizeTo({ width, height }, anySize).split("x").map(Number);
      expect(Math.abs((across / down) * (height / width) - 1)).toBeLessThan(0.01);
      expect(across * down).toBeGreaterThanOrEqual(655_360);
    }),
  );
});

it("a supported size is not changed", () => {
  expect(nearestSizeTo({ width: 1600, height: 912 }, anySize)).toBe("1600x912");
});

it("a model with three sizes gets the nearest one", () => {
  expect(nearestSizeTo({ width: 300, height: 200 }, threeSizes)).toBe("1536x1024");
});

it("no size is sent if none was requested", () => {
  expect(sizeOf({})).toBeUndefined();
  expect(sizeOf({ width: 1024 })).toBeUndefined();
});
