import { expect, it } from "vitest";
import { findOperationForm } from "../forms/operation-forms.ts";
import { parseDraft, serializeDraft } from "./stored-draft.ts";

const draft = {
  form: findOperationForm("images.generate"),
  values: { prompt: "a fox", webhook_secret: "whsec_1" },
  furtherModels: ["nanobanana"],
};

it("keeps a draft without its secrets", () => {
  const stored = serializeDraft(draft, "ada");
  expect(stored).not.toContain("whsec_1");
  expect(parseDraft(stored, "ada")).toEqual({ ...draft, values: { prompt: "a fox" } });
});

it("ignores a damaged draft and that of another user", () => {
  expect(parseDraft(serializeDraft(draft, "ada"), "grace")).toBeUndefined();
  expect(parseDraft("{", "ada")).toBeUndefined();
  expect(parseDraft(null, "ada")).toBeUndefined();
});
