import { describe, expect, it } from "vitest";
import { complaintsOf, FILE, fileOf, PARENT, parentOf, planOf, RUN, URL_A } from "../../../test/plans.ts";
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

  it("is one job on the one source that counts", () => {
    const raw = { ...words, imageUrl: URL_A, run_id: PARENT };
    expect(planOf(operation, raw)).toEqual([{ ...job, images: [{ url: URL_A }] }]);
    expect(planOf(operation, { ...raw, image: fileOf() }, "form")).toEqual([{ ...job, images: [{ asset: FILE }] }]);
    expect(parentOf(operation, raw)).toBe(PARENT);
  });
});

describe.each(needs)("what %s needs", (_, operation, words) => {
  it("is an address or a run in JSON, a file in a form", () => {
    expect(complaintsOf(operation, words)).toEqual(["/imageUrl at_least_one_of"]);
    expect(complaintsOf(operation, { ...words, run_id: RUN })).toEqual([]);
    expect(complaintsOf(operation, { ...words, run_id: RUN }, "form")).toEqual(["/image required"]);
    expect(complaintsOf(operation, { ...words, image: fileOf(), filename: "a.png", run_id: RUN }, "form")).toEqual([]);
  });

  it("is not called image_url, and files are not in JSON", () => {
    expect(complaintsOf(operation, { ...words, run_id: RUN, image_url: URL_A })).toEqual(["/image_url unknown_field"]);
    expect(complaintsOf(operation, { ...words, run_id: RUN, filename: "a" })).toEqual(["/filename unknown_field"]);
  });
});
