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
import { reframeImage } from "./reframe.ts";

const raw = { run_id: RUN_ID, aspect_ratio: "16:9" };
const edges = { x_start: -8, x_end: 300, y_start: 0, y_end: 200 };

describe("a reframe", () => {
  it("sends the aspect ratio, and positions only if they are given", () => {
    expect(buildJobs(reframeImage, raw)).toEqual([
      { task: "image.reframe", model: "photon-flash-1", images: [{ run: RUN_ID }], aspect_ratio: "16:9" },
    ]);
    expect(buildJobs(reframeImage, { ...raw, model: "photon-1", grid_position_x: 4, ...edges })[0]).toMatchObject({
      model: "photon-1",
      options: { grid_position_x: 4, ...edges },
    });
  });

  it("prefers the file to the URL to the run, which stays the parent", () => {
    const all = { ...raw, run_id: PARENT_RUN_ID, image_url: URL_A, image_file: createTestFilePart() };
    expect(buildJobs(reframeImage, all, "form")[0]!.images).toEqual([{ asset: FILE_ASSET_ID }]);
    expect(resolveParent(reframeImage, all, "form")).toBe(PARENT_RUN_ID);
  });

  it.each<[object, string[]]>([
    [{ run_id: RUN_ID }, ["/aspect_ratio required"]],
    [{ aspect_ratio: "1:1" }, ["/image_url at_least_one_of"]],
    [{ ...raw, aspect_ratio: "0:1" }, ["/aspect_ratio unknown_value"]],
    [{ ...raw, model: " photon-1" }, ["/model unknown_value"]],
    [{ ...raw, x_start: 1, x_end: 9 }, ["/y_start required", "/y_end required"]],
    [{ ...raw, grid_position_x: 1.5 }, ["/grid_position_x invalid_type"]],
    [{ ...raw, grid_position_y: "1" }, ["/grid_position_y invalid_type"]],
  ])("%j is refused with %j", (given, complaints) => {
    expect(listValidationErrors(reframeImage, given as never)).toEqual(complaints);
  });
});
