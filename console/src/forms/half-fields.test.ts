import { expect, it } from "vitest";
import { halfFields } from "./half-fields.ts";
import type { FormField } from "./operation-forms.ts";

const field = (name: string, widget: FormField["widget"]): FormField => ({
  name,
  widget,
  label: name,
  section: "main",
});

it("pairs short fields that follow each other and leaves a third one alone", () => {
  const fields = [field("prompt", "text"), field("width", "number"), field("height", "number"), field("seed", "seed")];
  expect([...halfFields(fields)]).toEqual(["width", "height"]);
  expect(halfFields([field("seed", "seed"), field("prompt", "text")]).size).toBe(0);
});
