import { expect, it } from "vitest";
import { rememberResults } from "./remember-results.ts";

it("returns the same result for the same key and forgets the one that was asked for longest ago", () => {
  const created: string[] = [];
  const get = rememberResults((key) => {
    created.push(key);
    return { key };
  }, 2);
  const a = get("a");
  get("b");
  expect(get("a")).toBe(a);
  get("c");
  expect(get("a")).toBe(a);
  get("b");
  expect(created).toEqual(["a", "b", "c", "b"]);
});
