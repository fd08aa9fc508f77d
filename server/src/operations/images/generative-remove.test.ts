import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  PARENT_RUN_ID,
  RUN_ID,
  resolveParent,
  URL_A,
} from "../../../test/support/operation-plans.ts";
import { backgroundRemove } from "./background-remove.ts";
import { generativeRemove } from "./generative-remove.ts";

describe("a removal", () => {
  it("always sends whether shadows and all matches are removed", () => {
    expect(buildJobs(generativeRemove, { run_id: RUN_ID, prompt: "the car" })).toEqual([
      {
        task: "image.remove",
        model: "remove-default",
        prompt: "the car",
        images: [{ run: RUN_ID }],
        options: { remove_shadow: true, multiple: false },
      },
    ]);
  });

  it("uses the URL and keeps the run as parent if both are given", () => {
    const raw = { prompt: "x", image_url: URL_A, run_id: PARENT_RUN_ID };
    expect(buildJobs(generativeRemove, raw)[0]!.images).toEqual([{ url: URL_A }]);
    expect(resolveParent(generativeRemove, raw)).toBe(PARENT_RUN_ID);
  });

  it("needs a prompt, an image and booleans", () => {
    expect(listValidationErrors(generativeRemove, {}).sort()).toEqual([
      "/image_url at_least_one_of",
      "/prompt required",
    ]);
    expect(listValidationErrors(generativeRemove, { prompt: "x", run_id: RUN_ID, remove_shadow: "true" })).toEqual([
      "/remove_shadow invalid_type",
    ]);
  });
});

describe("the background removal that returns a URL", () => {
  it("waits unless sync is false", () => {
    expect(backgroundRemove.input.parse({ run_id: RUN_ID })).toMatchObject({ sync: true });
  });

  it("returns the URL, the run and the source run", () => {
    const run = { run_id: RUN_ID, image_url: URL_A, parent_run_id: PARENT_RUN_ID };
    const reply = (more: object) =>
      backgroundRemove.renderResponse!({ ...run, ...more } as never, { jobs: [], data: null });
    expect(reply({})).toEqual({ url: URL_A, runId: RUN_ID, parentRunId: PARENT_RUN_ID });
    expect(reply({ image_url: null, parent_run_id: null })).toEqual({ url: null, runId: RUN_ID });
  });
});
