import { expect, it } from "vitest";
import { OPERATION_FORMS } from "./operation-forms.ts";
import { findFormOfRun } from "./operation-of-run.ts";

const nameOf = (run: Parameters<typeof findFormOfRun>[1]) => findFormOfRun(OPERATION_FORMS, run)?.name;

it("finds the only operation of a run type", () => {
  expect(nameOf({ run_type: "image-generation", given: { prompt: "a fox" }, model: "flux-dev" })).toBe(
    "images.generate",
  );
  expect(nameOf({ run_type: "upscale", given: {}, model: null })).toBe("images.upscale");
});

it("prefers the operation that names the model", () => {
  const given = { prompt: "make it snow" };
  expect(nameOf({ run_type: "image-edit", given, model: "nanobanana" })).toBe("images.edit.nanobanana");
  expect(nameOf({ run_type: "image-edit", given, model: "gemini-2.5" })).toBe("images.edit.gemini25");
});

it("finds none for uploads", () => {
  expect(nameOf({ run_type: "upload", given: null, model: null })).toBeUndefined();
});
