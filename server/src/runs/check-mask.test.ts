import { describe, expect, it } from "vitest";
import type { Job } from "../kit/operation.ts";
import { checkMask } from "./check-mask.ts";

type Size = { width: number; height: number };
const job = (images: Size[], mask?: Size, mask_over?: number): Job<Size> => ({
  task: "image.edit",
  model: "m",
  images,
  mask,
  mask_over,
});
const [large, small] = [
  { width: 64, height: 48 },
  { width: 32, height: 24 },
];

describe("a mask", () => {
  it("must have the size of its image", () => {
    expect(() => checkMask(job([large], large), (size) => size)).not.toThrow();
    expect(() => checkMask(job([large], small), (size) => size)).toThrow(
      expect.objectContaining({ code: "mask_mismatch" }),
    );
  });

  it("applies to the first image unless another one is named", () => {
    expect(() => checkMask(job([large, small], small), (size) => size)).toThrow();
    expect(() => checkMask(job([large, small], small, 1), (size) => size)).not.toThrow();
  });

  it("passes while a size is unknown", () => {
    expect(() => checkMask(job([large], small), () => undefined)).not.toThrow();
    expect(() => checkMask(job([large]), (size) => size)).not.toThrow();
  });
});
