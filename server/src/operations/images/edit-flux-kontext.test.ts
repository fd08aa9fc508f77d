import { describe, expect, it } from "vitest";
import { complaintsOf, parentOf, planOf, RUN, read } from "../../../test/plans.ts";
import { editFluxKontext } from "./edit-flux-kontext.ts";

const raw = { original_run_id: RUN, prompt: "snow", model: "flux-kontext-max" };

describe("the edit of an earlier run", () => {
  it("keeps the shape of its source by saying nothing about it", () => {
    expect(read(editFluxKontext, raw).input).toMatchObject({ aspect_ratio: "match_input_image" });
    expect(planOf(editFluxKontext, raw)).toEqual([
      { task: "image.edit", model: "flux-kontext-max", prompt: "snow", images: [{ run: RUN }] },
    ]);
    expect(parentOf(editFluxKontext, raw)).toBe(RUN);
  });

  it("passes on another shape, and a seed", () => {
    expect(planOf(editFluxKontext, { ...raw, aspect_ratio: "9:21", seed: 0 })[0]).toMatchObject({
      aspect_ratio: "9:21",
      seed: 0,
    });
    expect(complaintsOf(editFluxKontext, { ...raw, aspect_ratio: "7:3" })).toEqual(["/aspect_ratio unknown_value"]);
  });

  it("needs the model's name in JSON and not in a form", () => {
    const { model: _model, ...unnamed } = raw;
    expect(complaintsOf(editFluxKontext, unnamed)).toEqual(["/model required"]);
    expect(read(editFluxKontext, unnamed, "form").input).toMatchObject({ model: "flux-kontext-max" });
    expect(complaintsOf(editFluxKontext, { ...raw, model: "flux-dev" }, "form")).toEqual(["/model unknown_value"]);
  });

  it("needs a run and a prompt", () => {
    expect(complaintsOf(editFluxKontext, { model: "flux-kontext-max" }).sort()).toEqual([
      "/original_run_id required",
      "/prompt required",
    ]);
    expect(complaintsOf(editFluxKontext, { ...raw, original_run_id: "latest" })).toEqual([
      "/original_run_id invalid_uuid",
    ]);
  });
});
