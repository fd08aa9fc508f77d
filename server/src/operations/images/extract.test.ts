import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  PARENT_RUN_ID,
  RUN_ID,
  resolveParent,
  URL_A,
} from "../../../test/support/operation-plans.ts";
import type { Run, RunOutput } from "../../kit/schemas/run.ts";
import { extractObjects as extract } from "./extract.ts";

const file = (asset_id: string, about: object = {}) =>
  ({ asset_id, url: `https://example.com/${asset_id}`, ...about }) as RunOutput;
const box = { x: 1, y: 2, width: 3, height: 4 };

describe("an extraction", () => {
  it("finds one mask, then cuts by it", () => {
    expect(buildJobs(extract, { prompt: "the lamp", run_id: RUN_ID })).toEqual([
      {
        task: "image.segment",
        model: "segment-default",
        prompt: "the lamp",
        images: [{ run: RUN_ID }],
        count: 1,
        options: { multiple: false },
      },
      {
        task: "image.cut",
        model: "local",
        images: [{ run: RUN_ID }],
        masks: [{ job: 0, every: true }],
        options: { mode: "extract", invert: false, preserve_alpha: true },
      },
    ]);
  });

  it("can find several objects, and can return masks, also inverted", () => {
    const [segment, cut] = buildJobs(extract, {
      prompt: "x",
      image_url: URL_A,
      multiple: true,
      mode: "mask",
      invert: true,
    });
    expect(segment!.count).toBeUndefined();
    expect(segment!.options).toEqual({ multiple: true });
    expect(cut!.options).toEqual({ mode: "mask", invert: true, preserve_alpha: true });
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

  it("returns an object for each cut, with what the segmentation reported", () => {
    const run = { inputs: { prompt: "the lamp", mode: "extract" } } as unknown as Run;
    const jobs = [[file("mask", { name: "lamp", score: 0.9, box })], [file("cut")]];
    expect(extract.renderResponse!(run as never, { jobs, data: null })).toMatchObject({
      objects: [
        {
          name: "lamp",
          score: 0.9,
          box,
          asset_id: "cut",
          image_url: "https://example.com/cut",
          mask_url: "https://example.com/mask",
        },
      ],
    });
    expect(extract.renderResponse!(run as never, { jobs: [], data: null })).toMatchObject({ objects: [] });
  });

  it.each<[object, string[]]>([
    [{}, ["/prompt required", "/image_url at_least_one_of"]],
    [{ prompt: "x", run_id: RUN_ID, mode: "cutout" }, ["/mode unknown_value"]],
    [{ prompt: "x", run_id: RUN_ID, multiple: "true" }, ["/multiple invalid_type"]],
  ])("%j is refused with %j", (raw, complaints) => {
    expect(listValidationErrors(extract, raw as never)).toEqual(complaints);
  });
});
