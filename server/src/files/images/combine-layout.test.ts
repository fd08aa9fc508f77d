import fc from "fast-check";
import { expect, it } from "vitest";
import { computeLayout } from "./combine-layout.ts";

const side = fc.integer({ min: 16, max: 16_384 });
const sizes = fc
  .array(fc.record({ width: side, height: side }), { minLength: 2, maxLength: 10 })
  .map((all) => all.map(({ width, height }) => ({ width, height: Math.min(height, Math.floor(50e6 / width)) })));
const mode = fc.constantFrom("side-by-side", "stacked", "grid", "overlay" as const);

it("never exceeds the largest image size, and places every image inside it", () => {
  fc.assert(
    fc.property(mode, sizes, fc.integer({ min: 0, max: 512 }), (which, all, gap) => {
      const { width, height, places } = computeLayout(which, all, gap);
      expect(Math.max(width, height)).toBeLessThanOrEqual(16_384);
      expect(width * height).toBeLessThanOrEqual(50_000_000);
      for (const place of places) {
        expect(Math.min(place.left, place.top)).toBeGreaterThanOrEqual(0);
        expect(place.left + place.width).toBeLessThanOrEqual(width);
        expect(place.top + place.height).toBeLessThanOrEqual(height);
      }
    }),
  );
});

it("never lets images overlap except in overlay mode", () => {
  const apart = fc.constantFrom("side-by-side", "stacked", "grid" as const);
  fc.assert(
    fc.property(apart, sizes, fc.integer({ min: 0, max: 512 }), (which, all, gap) => {
      const { places } = computeLayout(which, all, gap);
      for (const [index, one] of places.entries()) {
        for (const other of places.slice(index + 1)) {
          const across = one.left < other.left + other.width && other.left < one.left + one.width;
          const down = one.top < other.top + other.height && other.top < one.top + one.height;
          expect(across && down).toBe(false);
        }
      }
    }),
  );
});

it("arranges ten images in a grid of four columns and three rows", () => {
  const { width, height } = computeLayout("grid", Array(10).fill({ width: 100, height: 50 }), 10);
  expect({ width, height }).toEqual({ width: 430, height: 170 });
});
