import { expect, it } from "vitest";
import { hasSlider, isSmallCount, parseNumber, stepOf } from "./number-range.ts";

it("offers a slider for close bounds with a default", () => {
  expect(hasSlider({ minimum: 0, maximum: 2, default: 1 })).toBe(true);
  expect(hasSlider({ minimum: 64, maximum: 2048, default: 512 })).toBe(false);
  expect(hasSlider({ minimum: 0, maximum: 2 })).toBe(false);
});

it("steps by one for integers and finer for small ranges", () => {
  expect(stepOf({ isInteger: true, minimum: 0, maximum: 2 })).toBe(1);
  expect(stepOf({ minimum: 0, maximum: 1 })).toBe(0.05);
  expect(stepOf({ minimum: 0, maximum: 100 })).toBe(0.5);
});

it("takes a half-typed number for no value", () => {
  expect(parseNumber("7.5")).toBe(7.5);
  expect(parseNumber("")).toBeUndefined();
  expect(parseNumber("-")).toBeUndefined();
});

it("has a button for each value of a small count", () => {
  expect(isSmallCount({ minimum: 1, maximum: 4, isInteger: true })).toBe(true);
  expect(isSmallCount({ minimum: 1, maximum: 5, isInteger: true })).toBe(false);
  expect(isSmallCount({ minimum: 1, maximum: 4 })).toBe(false);
});
