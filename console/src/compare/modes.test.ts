import { expect, it } from "vitest";
import { positionAfterKey } from "./modes.ts";

it("moves by one percent, by ten with Shift, and stays within the image", () => {
  expect(positionAfterKey(50, "ArrowRight", false)).toBe(51);
  expect(positionAfterKey(50, "ArrowLeft", true)).toBe(40);
  expect(positionAfterKey(99.5, "ArrowRight", false)).toBe(100);
  expect(positionAfterKey(50, "Home", false)).toBe(0);
  expect(positionAfterKey(50, "Enter", false)).toBeUndefined();
});
