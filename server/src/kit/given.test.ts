import { expect, it } from "vitest";
import { givenOf } from "./given.ts";

it("is what the caller set, as it was read, and nothing where nothing was set", () => {
  expect(givenOf({ a: "1", b: 2, c: 3 }, { a: 1, c: 3 }, ["a", "b"])).toEqual({ a: "1" });
  expect(givenOf({ b: 2 }, {}, ["b"])).toBeUndefined();
});
