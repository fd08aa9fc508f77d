import { expect, it } from "vitest";
import { rowAt, startsOf } from "./row-starts.ts";

it("finds the row at an offset", () => {
  const starts = startsOf([{ height: 48 }, { height: 200 }, { height: 100 }]);
  expect(starts).toEqual([0, 48, 248]);
  expect([0, 47, 48, 247.5, 248, 9999].map((offset) => rowAt(starts, offset))).toEqual([0, 0, 1, 1, 2, 2]);
  expect(rowAt([], 10)).toBe(0);
});
