import { expect, it } from "vitest";
import { countChangedPixels, type PixelGrid } from "./changed-pixels.ts";

const grid = (width: number, height: number, change: (data: Uint8ClampedArray) => void = () => {}): PixelGrid => {
  const data = new Uint8ClampedArray(width * height * 4).fill(200);
  change(data);
  return { width, height, data };
};

it("counts a pixel once, whatever number of its channels differ", () => {
  const changed = grid(4, 2, (data) => {
    data[0] = 1;
    data[1] = 1;
    data[7] = 1;
  });
  expect(countChangedPixels(grid(4, 2), changed)).toEqual({ inside: 0, outside: 2, outsideTotal: 8 });
});

it("counts pixels under black as outside, and pixels under grey and white as inside", () => {
  const changed = grid(4, 1, (data) => data.fill(0));
  const mask = Uint8Array.of(0, 1, 255, 0);
  expect(countChangedPixels(grid(4, 1), changed, mask)).toEqual({ inside: 2, outside: 2, outsideTotal: 2 });
});

it("does not compare images of different sizes, nor a mask of another size", () => {
  expect(countChangedPixels(grid(4, 2), grid(2, 4))).toBeUndefined();
  expect(countChangedPixels(grid(4, 2), grid(4, 2), new Uint8Array(7))).toBeUndefined();
});
