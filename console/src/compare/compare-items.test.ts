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

it("tells which inputs differ, the prompt first", () => {
  const first = { steps: 20, prompt: "a fox", seed: 7 };
  const second = { prompt: "a red fox", seed: 7, aspect_ratio: "1:1" };
  expect(differencesOf(first, second)).toEqual([
    { field: "prompt", first: "a fox", second: "a red fox", isDifferent: true },
    { field: "seed", first: 7, second: 7, isDifferent: false },
    { field: "aspect_ratio", first: undefined, second: "1:1", isDifferent: true },
    { field: "steps", first: 20, second: undefined, isDifferent: true },
  ]);
});
