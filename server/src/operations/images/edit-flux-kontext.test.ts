import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  parseOperationInput,
  RUN_ID,
  resolveParent,
} from "../../../test/support/operation-plans.ts";
import { editFluxKontext } from "./edit-flux-kontext.ts";

const raw = { original_run_id: RUN_ID, prompt: "snow", model: "flux-kontext-max" };

describe("the edit of an earlier run", () => {
  it("keeps the aspect ratio of its source by omitting the field", () => {
    expect(parseOperationInput(editFluxKontext, raw).input).toMatchObject({ aspect_ratio: "match_input_image" });
    expect(buildJobs(editFluxKontext, raw)).toEqual([
      { task: "image.edit", model: "flux-kontext-max", prompt: "snow", images: [{ run: RUN_ID }] },
    ]);
    expect(resolveParent(editFluxKontext, raw)).toBe(RUN_ID);
  });

  it("passes on another aspect ratio, and a seed", () => {
    expect(buildJobs(editFluxKontext, { ...raw, aspect_ratio: "9:21", seed: 0 })[0]).toMatchObject({
      aspect_ratio: "9:21",
      seed: 0,
    });
    expect(listValidationErrors(editFluxKontext, { ...raw, aspect_ratio: "7:3" })).toEqual([
      "/aspect_ratio unknown_value",
    ]);
  });

  it("needs the model's name in JSON and not in a form", () => {
    const { model: _model, ...unnamed } = raw;
    expect(listValidationErrors(editFluxKontext, unnamed)).toEqual(["/model required"]);
    expect(parseOperationInput(editFluxKontext, unnamed, "form").input).toMatchObject({ model: "flux-kontext-max" });
    expect(listValidationErrors(editFluxKontext, { ...raw, model: "flux-dev" }, "form")).toEqual([
      "/model unknown_value",
    ]);
  });

  it("needs a run and a prompt", () => {
    expect(listValidationErrors(editFluxKontext, { model: "flux-kontext-max" }).sort()).toEqual([
      "/original_run_id required",
      "/prompt required",
    ]);
    expect(listValidationErrors(editFluxKontext, { ...raw, original_run_id: "latest" })).toEqual([
      "/original_run_id invalid_uuid",
    ]);
  });
});
