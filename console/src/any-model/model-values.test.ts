import { expect, it } from "vitest";
import type { FormField } from "../forms/operation-forms.ts";
import { findMissingText, inputForPrice, keepModelValues, setModelValue, splitFields } from "./model-values.ts";

const field = (name: string, more: Partial<FormField> = {}): FormField => ({
  ...{ name, label: name, widget: "text", section: "main" },
  ...more,
});
const prompt = field("prompt", { isRequired: true, isLong: true });
const duration = field("duration", { widget: "choice", options: ["4s", "8s"], default: "8s" });
const image = field("image_url", { widget: "image", isRequired: true });

it("leaves a choice out that is the default, and keeps what is typed", () => {
  expect(setModelValue({ duration: "4s" }, duration, "8s")).toEqual({});
  expect(setModelValue({}, duration, "4s")).toEqual({ duration: "4s" });
  expect(setModelValue({}, field("style", { default: "ink" }), "ink")).toEqual({ style: "ink" });
});

it("keeps the values that another model takes too", () => {
  const values = { prompt: "a boat", duration: "4s", seed: 1 };
  const other = field("duration", { widget: "choice", options: ["5", "10"] });
  expect(keepModelValues(values, [prompt, duration], [prompt, duration])).toEqual({ prompt: "a boat", duration: "4s" });
  expect(keepModelValues(values, [prompt, duration], [prompt, other])).toEqual({ prompt: "a boat" });
});

it("finds the text that is missing, and asks for the price with a word in its place", () => {
  expect(findMissingText([image, prompt], {})).toBe(prompt);
  expect(findMissingText([prompt], { prompt: "a" })).toBeUndefined();
  expect(inputForPrice([prompt, duration], { duration: "4s" })).toEqual({ prompt: "prompt", duration: "4s" });
  expect(inputForPrice([prompt, image], { prompt: "a" })).toBeUndefined();
});

it("folds optional fields after the tenth, if there are more than two", () => {
  const many = Array.from({ length: 14 }, (_, index) => field(`f${index}`, index === 13 ? { isRequired: true } : {}));
  expect(splitFields(many.slice(0, 12)).folded).toEqual([]);
  expect(splitFields(many).folded.map(({ name }) => name)).toEqual(["f10", "f11", "f12"]);
});
