import { describe, expect, it } from "vitest";
import { complaintsOf, FILE, fileOf, parentOf, planOf, RUN } from "../../../test/plans.ts";
import { describeImage } from "./describe.ts";

describe("a description", () => {
  it("is asked for in the detail and the language wanted", () => {
    const job = { task: "image.describe", model: "describe-default", images: [{ run: RUN }] };
    expect(planOf(describeImage, { run_id: RUN })).toEqual([{ ...job, options: { detail: "normal" } }]);
    expect(planOf(describeImage, { run_id: RUN, detail: "long", language: "de" })).toEqual([
      { ...job, options: { detail: "long", language: "de" } },
    ]);
    expect(parentOf(describeImage, { run_id: RUN })).toBe(RUN);
  });

  it.each(["image", "image_url"])("takes a file as %s", (field) => {
    expect(planOf(describeImage, { [field]: fileOf() }, "form")[0]!.images).toEqual([{ asset: FILE }]);
  });

  it("is in the answer only when there is one", () => {
    const run = { run_id: RUN, status: "processing", error: null };
    expect(describeImage.reply!(run as never, { jobs: [], data: null })).toEqual({ run_id: RUN, status: "processing" });
    const data = { description: "a desk", tags: ["desk"], prompt: "desk", width: 8, height: 9, model: "x" };
    expect(describeImage.reply!(run as never, { jobs: [], data })).not.toHaveProperty("model");
  });

  it("needs a picture and a known detail", () => {
    expect(complaintsOf(describeImage, {})).toEqual(["/image_url at_least_one_of"]);
    expect(complaintsOf(describeImage, { run_id: RUN, detail: "epic" })).toEqual(["/detail unknown_value"]);
  });
});
