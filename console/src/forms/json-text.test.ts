import { expect, it } from "vitest";
import { parseJsonObject } from "./json-text.ts";

it("reads objects and nothing else", () => {
  expect(parseJsonObject('{"a":1}')).toEqual({ a: 1 });
  expect(parseJsonObject("[1]")).toBeUndefined();
  expect(parseJsonObject("null")).toBeUndefined();
  expect(parseJsonObject('{"a":')).toBeUndefined();
});
