import { describe, expect, it } from "vitest";
import {
  buildJobs,
  createTestFilePart,
  FILE_ASSET_ID,
  listValidationErrors,
  RUN_ID,
  resolveParent,
} from "../../../test/support/operation-plans.ts";
import { describeImage } from "./describe.ts";

describe("a description", () => {
  it("has the requested detail and language", () => {
    const job = { task: "image.describe", model: "describe-default", images: [{ run: RUN_ID }] };
    expect(buildJobs(describeImage, { run_id: RUN_ID })).toEqual([{ ...job, options: { detail: "normal" } }]);
    expect(buildJobs(describeImage, { run_id: RUN_ID, detail: "long", language: "de" })).toEqual([
      { ...job, options: { detail: "long", language: "de" } },
    ]);
    expect(resolveParent(describeImage, { run_id: RUN_ID })).toBe(RUN_ID);
  });

  it.each(["image", "image_url"])("accepts a file as %s", (field) => {
    expect(buildJobs(describeImage, { [field]: createTestFilePart() }, "form")[0]!.images).toEqual([
      { asset: FILE_ASSET_ID },
    ]);
  });

  it("is in the response only if there is one", () => {
    const run = { run_id: RUN_ID, status: "processing", error: null };
    expect(describeImage.renderResponse!(run as never, { jobs: [], data: null })).toEqual({
      run_id: RUN_ID,
      status: "processing",
    });
    const data = { description: "a desk", tags: ["desk"], prompt: "desk", width: 8, height: 9, model: "x" };
    expect(describeImage.renderResponse!(run as never, { jobs: [], data })).not.toHaveProperty("model");
  });

  it("needs an image and a known detail", () => {
    expect(listValidationErrors(describeImage, {})).toEqual(["/image_url at_least_one_of"]);
    expect(listValidationErrors(describeImage, { run_id: RUN_ID, detail: "epic" })).toEqual(["/detail unknown_value"]);
  });
});
