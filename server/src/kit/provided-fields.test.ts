import { expect, it } from "vitest";
import { pickProvided } from "./provided-fields.ts";

it("is what the caller set, as it was read, and nothing where nothing was set", () => {
  expect(pickProvided({ a: "1", b: 2, c: 3 }, { a: 1, c: 3 }, ["a", "b"])).toEqual({ a: "1" });
  expect(pickProvided({ b: 2 }, {}, ["b"])).toBeUndefined();
});
