import { expect, it } from "vitest";
import { fingerprintOf, keepKnownValues, setFormValue } from "./form-values.ts";

it("removes a field that becomes empty", () => {
  const values = setFormValue({ prompt: "a fox", seed: 7 }, "seed", undefined);
  expect(values).toEqual({ prompt: "a fox" });
  expect(setFormValue(values, "prompt", "")).toEqual({});
  expect(setFormValue({}, "image_urls", [])).toEqual({});
});

it("keeps false and zero, which are values", () => {
  expect(setFormValue({}, "sync", false)).toEqual({ sync: false });
  expect(setFormValue({}, "seed", 0)).toEqual({ seed: 0 });
});

it("gives the same fingerprint for the same values in another order", () => {
  expect(fingerprintOf({ a: 1, b: { c: 2, d: [1, 2] } })).toBe(fingerprintOf({ b: { d: [1, 2], c: 2 }, a: 1 }));
  expect(fingerprintOf({ a: [1, 2] })).not.toBe(fingerprintOf({ a: [2, 1] }));
});

it("keeps the values that another operation has too", () => {
  expect(keepKnownValues({ prompt: "a fox", seed: 7, steps: 20 }, ["prompt", "seed"])).toEqual({
    prompt: "a fox",
    seed: 7,
  });
});
