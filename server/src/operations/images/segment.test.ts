import { describe, expect, it } from "vitest";
import {
  buildJobs,
  createTestFilePart,
  FILE_ASSET_ID,
  listValidationErrors,
  PARENT_RUN_ID,
  RUN_ID,
  resolveParent,
  URL_A,
} from "../../../test/support/operation-plans.ts";
import { removeBackground } from "./remove-background.ts";
import { segmentImage } from "./segment.ts";

const jobs = [
  ["segmentImage", segmentImage, { task: "image.segment", model: "segment-default", prompt: "x", count: 1 }],
  ["removeBackground", removeBackground, { task: "image.remove-background", model: "remove-background-default" }],
] as const;
const needs = [
  ["segmentImage", segmentImage, { prompt: "x" }],
  ["removeBackground", removeBackground, {}],
] as const;

describe.each(jobs)("%s", (_, operation, job) => {
  const words = operation === segmentImage ? { prompt: "x" } : {};

  it("is one job on the preferred source", () => {
    const raw = { ...words, imageUrl: URL_A, run_id: PARENT_RUN_ID };
    expect(buildJobs(operation, raw)).toEqual([{ ...job, images: [{ url: URL_A }] }]);
    expect(buildJobs(operation, { ...raw, image: createTestFilePart() }, "form")).toEqual([
      { ...job, images: [{ asset: FILE_ASSET_ID }] },
    ]);
    expect(resolveParent(operation, raw)).toBe(PARENT_RUN_ID);
  });
});

describe.each(needs)("the source of %s", (_, operation, words) => {
  it("is a URL or a run in JSON, a file in a form", () => {
    expect(listValidationErrors(operation, words)).toEqual(["/imageUrl at_least_one_of"]);
    expect(listValidationErrors(operation, { ...words, run_id: RUN_ID })).toEqual([]);
    expect(listValidationErrors(operation, { ...words, run_id: RUN_ID }, "form")).toEqual(["/image required"]);
    expect(
      listValidationErrors(
        operation,
        { ...words, image: createTestFilePart(), filename: "a.png", run_id: RUN_ID },
        "form",
      ),
    ).toEqual([]);
  });

  it("is not called image_url, and files are not in JSON", () => {
    expect(listValidationErrors(operation, { ...words, run_id: RUN_ID, image_url: URL_A })).toEqual([
      "/image_url unknown_field",
    ]);
    expect(listValidationErrors(operation, { ...words, run_id: RUN_ID, filename: "a" })).toEqual([
      "/filename unknown_field",
    ]);
  });
});
