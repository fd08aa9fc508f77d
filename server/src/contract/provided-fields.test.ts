import { expect, it } from "vitest";
import { pickProvided } from "./provided-fields.ts";

it("contains the fields that the caller set, as parsed, and nothing else", () => {
  expect(pickProvided({ a: "1", b: 2, c: 3 }, { a: 1, c: 3 }, ["a", "b"])).toEqual({ a: "1" });
  expect(pickProvided({ b: 2 }, {}, ["b"])).toBeUndefined();
});
