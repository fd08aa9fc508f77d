import { expect, it } from "vitest";
import { text } from "../text/text.ts";
import { findOperationForm, OPERATION_FORMS } from "./operation-forms.ts";

it("has a short name for every operation of the contract, and no other names", () => {
  expect(Object.keys(text.operations).sort()).toEqual(OPERATION_FORMS.map(({ name }) => name).sort());
  expect(new Set(OPERATION_FORMS.map(({ label }) => label)).size).toBe(OPERATION_FORMS.length);
});

it("opens the first form for a name that it does not know", () => {
  expect(findOperationForm("no.such").name).toBe("images.generate");
  expect(findOperationForm("images.upscale").label).toBe("Upscale image");
});
