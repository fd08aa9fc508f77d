import { expect, it } from "vitest";
import { OPERATION_FORMS } from "./operation-forms.ts";
import { findFormOfRun } from "./operation-of-run.ts";

const nameOf = (operation: string) => findFormOfRun(OPERATION_FORMS, { operation })?.name;

it("finds the operation that created the run, also if others create runs of the same type", () => {
  expect(nameOf("images.generate")).toBe("images.generate");
  expect(nameOf("images.edit.gemini25")).toBe("images.edit.gemini25");
  expect(nameOf("images.edit.nanobanana")).toBe("images.edit.nanobanana");
});

it("finds none for uploads", () => {
  expect(nameOf("images.upload")).toBeUndefined();
});
