import { expect, it } from "vitest";
import { differencesOf, parseItems } from "./compare-items.ts";

const A = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const B = "01990c3e-2f00-7000-8000-6f0c1a2b3c4e";

it("reads exactly two run IDs", () => {
  expect(parseItems(`${A},${B}`)).toEqual([A, B]);
  expect(parseItems(A)).toBeUndefined();
  expect(parseItems(`${A},${B},${A}`)).toBeUndefined();
  expect(parseItems(`${A},<script>`)).toBeUndefined();
  expect(parseItems(undefined)).toBeUndefined();
});

it("lists only inputs that differ", () => {
  const first = { prompt: "a fox", seed: 7, steps: 20 };
  const second = { prompt: "a red fox", seed: 7, aspect_ratio: "1:1" };
  expect(differencesOf(first, second)).toEqual([
    { field: "aspect_ratio", first: undefined, second: "1:1" },
    { field: "prompt", first: "a fox", second: "a red fox" },
    { field: "steps", first: 20, second: undefined },
  ]);
});
