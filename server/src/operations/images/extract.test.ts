import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  PARENT_RUN_ID,
  RUN_ID,
  resolveParent,
  URL_A,
} from "../../../test/support/operation-plans.ts";
import type { Run, RunOutput } from "../../contract/schemas/run.ts";
import { extractObjects as extract } from "./extract.ts";

const file = (asset_id: string, about: object = {}) =>
  ({ asset_id, url: `https://example.com/${asset_id}`, ...about }) as RunOutput;
const box = { x: 1, y: 2, width: 3, height: 4 };

describe("an extraction", () => {
  it("finds one mask, converts it, then cuts by it", () => {
    expect(buildJobs(extract, { prompt: "the lamp", run_id: RUN_ID })).toEqual([
      {
        task: "image.segment",
        model: "segment-default",
        prompt: "the lamp",
        images: [{ run: RUN_ID }],
        count: 1,
        options: { multiple: false },
      },
      ...["mask", "extract"].map((mode) => ({
        task: "image.cut",
        model: "local",
        images: [{ run: RUN_ID }],
        masks: [{ job: 0, every: true }],
        options: { mode, invert: false, preserve_alpha: true },
      })),
    ]);
  });

  it("can find several objects, and can return masks, also inverted", () => {
    const [segment, cut, ...others] = buildJobs(extract, {
      prompt: "x",
      image_url: URL_A,
      multiple: true,
      mode: "mask",
      invert: true,
    });
    expect(segment!.count).toBeUndefined();
    expect(segment!.options).toEqual({ multiple: true });
    expect(cut!.options).toEqual({ mode: "mask", invert: true, preserve_alpha: true });
    expect(others).toEqual([]);
  });

  it("treats content as extract", () => {
    const raw = { prompt: "x", image_url: URL_A };
    expect(buildJobs(extract, { ...raw, mode: "content" })).toEqual(buildJobs(extract, { ...raw, mode: "extract" }));
  });

  it("uses the URL and keeps the run as parent if both are given", () => {
    const raw = { prompt: "x", image_url: URL_A, run_id: PARENT_RUN_ID };
    expect(buildJobs(extract, raw)[0]!.images).toEqual([{ url: URL_A }]);
    expect(resolveParent(extract, raw)).toBe(PARENT_RUN_ID);
  });

  const objectsOf = (mode: string, jobs: RunOutput[][]) => {
    const run = { inputs: { prompt: "the lamp", mode } } as unknown as Run;
    return (extract.renderResponse!(run as never, { jobs, data: null }) as { objects: unknown[] }).objects;
  };
  const found = [file("found", { name: "lamp", score: 0.9, box })];

  it("returns an object for each cut, with name and score of the segmentation, and mask and box of the cut", () => {
    const cutBox = { x: 0, y: 0, width: 9, height: 9 };
    expect(objectsOf("extract", [found, [file("mask")], [file("cut", { box: cutBox })]])).toEqual([
      {
        name: "lamp",
        score: 0.9,
        box: cutBox,
        asset_id: "cut",
        image_url: "https://example.com/cut",
        mask_url: "https://example.com/mask",
      },
    ]);
    expect(objectsOf("mask", [found, [file("mask")]])).toMatchObject([
      { asset_id: "mask", image_url: "https://example.com/mask", mask_url: "https://example.com/mask", box },
    ]);
  });

  it("returns no objects while it runs, and if nothing was found", () => {
    expect(objectsOf("extract", [])).toEqual([]);
    expect(objectsOf("extract", [[], [], []])).toEqual([]);
    expect(extract.renderResult!({ prompt: "x" }, { jobs: [[], [], []], data: null })).toEqual({ objects: [] });
  });

  it("shows runs of earlier versions, whose masks are those that were found", () => {
    expect(objectsOf("extract", [found, [file("cut")]])).toMatchObject([
      { asset_id: "cut", mask_url: "https://example.com/found", box },
    ]);
  });

  it.each<[object, string[]]>([
    [{}, ["/prompt required", "/image_url at_least_one_of"]],
    [{ prompt: "x", run_id: RUN_ID, mode: "cutout" }, ["/mode unknown_value"]],
    [{ prompt: "x", run_id: RUN_ID, multiple: "true" }, ["/multiple invalid_type"]],
  ])("%j is refused with %j", (raw, complaints) => {
    expect(listValidationErrors(extract, raw as never)).toEqual(complaints);
  });
});
