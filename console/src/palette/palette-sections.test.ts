import { expect, it } from "vitest";
import { containsWords } from "./palette-sections.ts";

it("finds entries by all words of the input, in any order", () => {
  expect(containsWords("Remove background", "back rem")).toBe(true);
  expect(containsWords("Remove background", "back add")).toBe(false);
  expect(containsWords("Remove background", "")).toBe(true);
});
