import type { Model } from "@gesso/client";
import { expect, it } from "vitest";
import { modelChanges, modelValues } from "./model-changes.ts";

const FIELDS = ["name", "trigger_word", "description", "visibility"];
const model = { model_id: "m", name: "Ink", trigger_word: "ink", description: null, visibility: "private" } as Model;

it("sends only what was changed, and null for what was emptied", () => {
  const values = modelValues(model, FIELDS);
  expect(values).toEqual({ name: "Ink", trigger_word: "ink", visibility: "private" });
  expect(modelChanges(model, values, FIELDS)).toEqual({});
  const { trigger_word: _, ...rest } = values;
  expect(modelChanges(model, { ...rest, name: "Ink 2" }, FIELDS)).toEqual({ name: "Ink 2", trigger_word: null });
});
