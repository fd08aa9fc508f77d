import { expect, it } from "vitest";
import { fieldStates } from "./field-states.ts";
import { findOperationForm, MODELS, OPERATION_FORMS } from "./operation-forms.ts";
import { sectionsOf } from "./sections.ts";

const namesIn = (model: string) => {
  const form = findOperationForm("images.generate");
  const sections = sectionsOf(form.fields, fieldStates({ form, values: { model_type: model }, models: MODELS }));
  return Object.fromEntries(
    Object.entries(sections).map(([section, fields]) => [section, fields.map(({ name }) => name)]),
  );
};

it("moves up what the model needs and folds what it does not use", () => {
  expect(namesIn("flux-dev").main).not.toContain("width");
  expect(namesIn("wan-image-2.1").main).toContain("width");
  expect(namesIn("flux-dev").advanced).toContain("image_urls");
  expect(namesIn("gemini-2.5").main).toContain("image_urls");
});

it("loses no field of any operation", () => {
  for (const form of OPERATION_FORMS) {
    const { main, advanced, request } = sectionsOf(form.fields, fieldStates({ form, values: {}, models: MODELS }));
    expect([...main, ...advanced, ...request].length).toBe(form.fields.length);
  }
});
