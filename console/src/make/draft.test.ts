import { expect, it } from "vitest";
import { findOperationForm } from "../forms/operation-forms.ts";
import { changeOperation, divideCap, fingerprintOfRequest, requestsOf } from "./draft.ts";

const form = findOperationForm("images.generate");

it("makes one request for each model and sets the model only where the user chose it", () => {
  const requests = requestsOf({ form, values: { prompt: "a fox" }, furtherModels: ["nanobanana"] });
  expect(requests).toEqual([
    { operation: "images.generate", model: "flux-dev", input: { prompt: "a fox" } },
    { operation: "images.generate", model: "nanobanana", input: { prompt: "a fox", model_type: "nanobanana" } },
  ]);
});

it("keeps what another operation has too", () => {
  const next = changeOperation(
    { form, values: { prompt: "snow", guidance: 3, model_type: "nanobanana" }, furtherModels: ["vendora"] },
    findOperationForm("images.edit.nanobanana"),
  );
  expect(next.values).toEqual({ prompt: "snow" });
  expect(next.furtherModels).toEqual([]);
});

it("gives the same fingerprint for the same request", () => {
  const [one] = requestsOf({ form, values: { prompt: "a", seed: 1 }, furtherModels: [] });
  const [other] = requestsOf({ form, values: { seed: 1, prompt: "a" }, furtherModels: [] });
  expect(fingerprintOfRequest(one!)).toBe(fingerprintOfRequest(other!));
});

it("divides a cap so that its parts never exceed it", () => {
  expect(divideCap(0.5, [0.1, 0.2])).toEqual([0.2, 0.3]);
  expect(divideCap(0.5, [0.1, null])).toEqual([0.25, 0.25]);
  const parts = divideCap(1, [0.1, 0.1, 0.1]);
  expect(parts.reduce((sum, part) => sum + part, 0)).toBeLessThanOrEqual(1);
});

it("divides a cap below the sum of the prices so that no run fits", () => {
  const parts = divideCap(0.1, [0.1, 0.1]);
  expect(parts).toEqual([0.05, 0.05]);
});
