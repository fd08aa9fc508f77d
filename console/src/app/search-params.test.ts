import { expect, it } from "vitest";
import { parseMakeSearch, parseRunSearch } from "./search-params.ts";

it("keeps texts and leaves out everything else", () => {
  expect(parseMakeSearch({ operation: "images.generate", model: 7, from: "", other: "x" })).toEqual({
    operation: "images.generate",
  });
});

it("keeps only tabs that exist", () => {
  expect(parseRunSearch({ tab: "tree", node: "a" })).toEqual({ tab: "tree", node: "a" });
  expect(parseRunSearch({ tab: "money" })).toEqual({});
});
