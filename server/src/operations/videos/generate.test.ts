import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  parseOperationInput,
  RUN_ID,
  resolveParent,
  URL_A,
} from "../../../test/support/operation-plans.ts";
import { generateVideo as video } from "./generate.ts";

describe("a video", () => {
  it("always has an aspect ratio and a duration, and other options only if they are given", () => {
    expect(buildJobs(video, { source_run_id: RUN_ID })).toEqual([
      {
        task: "video.generate",
        model: "video-default",
        images: [{ run: RUN_ID }],
        aspect_ratio: "16:9",
        options: { duration: 3 },
      },
    ]);
    expect(
      buildJobs(video, { image_url: URL_A, duration: 1.5, fps: 30, cfg_scale: 2, motion_bucket_id: 9 })[0],
    ).toMatchObject({
      images: [{ url: URL_A }],
      options: { duration: 1.5, fps: 30, cfg_scale: 2, motion_bucket_id: 9 },
    });
  });

  it("has the source run as parent, and a deadline of an hour", () => {
    expect(resolveParent(video, { source_run_id: RUN_ID })).toBe(RUN_ID);
    expect(resolveParent(video, { image_url: URL_A })).toBeUndefined();
    expect(video.deadlineSeconds).toBe(3600);
  });

  it("has its input in the response, and errors in the shape of a failed run", () => {
    expect(parseOperationInput(video, { source_run_id: RUN_ID }).input).toMatchObject({
      duration: 3,
      aspect_ratio: "16:9",
    });
    const fault = { message: "No.", code: "validation_error", details: { a: 1 } } as const;
    expect(video.renderError!(fault)).toEqual({ ...fault, status: "failed", error: fault });
  });

  it.each<[object, string[]]>([
    [{}, ["/image_url exactly_one_of"]],
    [{ image_url: URL_A, source_run_id: RUN_ID }, ["/image_url exactly_one_of"]],
    [{ image_url: URL_A, duration: 0 }, ["/duration out_of_range"]],
    [{ image_url: URL_A, duration: 61 }, ["/duration out_of_range"]],
    [{ image_url: URL_A, fps: 61 }, ["/fps out_of_range"]],
    [{ image_url: URL_A, motion_bucket_id: 0 }, ["/motion_bucket_id out_of_range"]],
    [{ image_url: URL_A, cfg_scale: "2" }, ["/cfg_scale invalid_type"]],
  ])("%j is refused with %j", (raw, complaints) => {
    expect(listValidationErrors(video, raw as never)).toEqual(complaints);
  });
});
