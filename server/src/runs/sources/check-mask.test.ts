import { describe, expect, it } from "vitest";
import type { Job } from "../../contract/operation.ts";
import { checkMask } from "./check-mask.ts";

type Size = { width: number; height: number };
const job = (images: Size[], mask?: Size, mask_over?: number): Job<Size> => ({
  task: "image.edit",
  model: "m",
  images,
  mask,
  mask_over,
});
const [large, small, square] = [
  { width: 64, height: 48 },
  { width: 32, height: 24 },
  { width: 48, height: 48 },
];

describe("a mask", () => {
  it("may have another size than its image, but not another shape", () => {
    expect(() => checkMask(job([large], large), (size) => size)).not.toThrow();
    expect(() => checkMask(job([large], small), (size) => size)).not.toThrow();
    expect(() => checkMask(job([large], square), (size) => size)).toThrow(
      expect.objectContaining({
        code: "mask_mismatch",
        message:
          "The mask has 48x48 pixels and the image 64x48 pixels. Both must have the same aspect ratio. Export the mask in the shape of the image.",
        details: { image: large, mask: square },
      }),
    );
  });

  it("has the same shape if its aspect ratio differs by at most 1 percent", () => {
    const image = { width: 1001, height: 667 };
    expect(() => checkMask(job([image], { width: 250, height: 167 }), (size) => size)).not.toThrow();
    expect(() => checkMask(job([image], { width: 250, height: 170 }), (size) => size)).toThrow();
  });

  it("applies to the first image unless another one is named", () => {
    expect(() => checkMask(job([large, square], square), (size) => size)).toThrow();
    expect(() => checkMask(job([large, square], square, 1), (size) => size)).not.toThrow();
  });

  it("passes while a size is unknown", () => {
    expect(() => checkMask(job([large], square), () => undefined)).not.toThrow();
    expect(() => checkMask(job([large]), (size) => size)).not.toThrow();
  });
});
