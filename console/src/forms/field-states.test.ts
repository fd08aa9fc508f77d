import { expect, it } from "vitest";
import { chosenModel, fieldStates, isComplete, mergedFieldStates } from "./field-states.ts";
import { findOperationForm, MODELS } from "./operation-forms.ts";

const form = findOperationForm("images.generate");
const statesWith = (values: Record<string, unknown>) => fieldStates({ form, values, models: MODELS });

it("makes what wan-image-2.1 needs required and fixes its number of images", () => {
  const states = statesWith({ model_type: "wan-image-2.1" });
  expect(states.get("model_id")?.isRequired).toBe(true);
  expect(states.get("width")?.isRequired).toBe(true);
  expect(states.get("height")?.isRequired).toBe(true);
  expect(states.get("batch_size")?.fixedValue).toBe(2);
});

it("leaves them optional with the default model", () => {
  expect(chosenModel(form, {})).toBe("flux-dev");
  const states = statesWith({});
  expect(states.get("model_id")).toEqual({ isRequired: false, isUnused: false });
  expect(states.get("batch_size")?.fixedValue).toBeUndefined();
});

it("marks fields that the model does not use", () => {
  expect(statesWith({ model_type: "nanobanana" }).get("steps")?.isUnused).toBe(true);
  expect(statesWith({ model_type: "flux-dev" }).get("steps")?.isUnused).toBe(false);
  expect(statesWith({ model_type: "nanobanana" }).get("upscale_factor")?.isUnused).toBe(false);
  expect(statesWith({ model_type: "nanobanana" }).get("webhook_url")?.isUnused).toBe(false);
});

it("limits the values of a field to those of the model", () => {
  expect(statesWith({ model_type: "flux-kontext-max" }).get("aspect_ratio")?.options).toContain("21:9");
});

it("requires the second of two fields that belong together once the first is set", () => {
  expect(statesWith({}).get("lora_high_name")?.isRequired).toBe(false);
  expect(statesWith({ lora_low_name: "a" }).get("lora_high_name")?.isRequired).toBe(true);
});

it("requires a field that one of several models requires", () => {
  const inputs = [{ model_type: "flux-dev" }, { model_type: "vendorb-imagen4" }];
  const states = mergedFieldStates({ form, models: MODELS }, inputs);
  expect(states.get("aspect_ratio")?.isRequired).toBe(true);
  expect(states.get("steps")?.isUnused).toBe(false);
});

it("tells a complete request from one that lacks a field or one of several sources", () => {
  const upscale = findOperationForm("images.upscale");
  expect(isComplete({ form, values: {}, models: MODELS })).toBe(false);
  expect(isComplete({ form, values: { prompt: "a" }, models: MODELS })).toBe(true);
  expect(isComplete({ form: upscale, values: {}, models: MODELS })).toBe(false);
  expect(isComplete({ form: upscale, values: { run_id: "a" }, models: MODELS })).toBe(true);
});
