import { expect, test } from "vitest";
import { applyMergePatch } from "./merge-patch.ts";

test.each([
  // The examples of RFC 7396 whose target and patch are objects.
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])("%j patched by %j is %j", (target, patch, expected) => {
  expect(applyMergePatch(target, patch)).toEqual(expected);
});

test("neither the target nor the prototype of objects changes", () => {
  const target = Object.freeze({ a: Object.freeze({ b: 1 }) });
  expect(applyMergePatch(target, { a: { c: 2 } })).toEqual({ a: { b: 1, c: 2 } });
  applyMergePatch({}, JSON.parse('{"__proto__": {"isAdmin": true}}'));
  expect(({} as { isAdmin?: boolean }).isAdmin).toBe(undefined);
});
