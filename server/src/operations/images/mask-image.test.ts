import { describe, expect, it } from "vitest";
import {
  buildJobs,
  createTestFilePart,
  FILE_ASSET_ID,
  listValidationErrors,
  RUN_ID,
  resolveParent,
  URL_A,
  URL_B,
} from "../../../test/support/operation-plans.ts";
import { maskImage } from "./mask-image.ts";

const raw = { original_image_url: URL_A, mask_image_url: URL_B };
const blend = {
  task: "image.blend",
  model: "local",
  images: [{ url: URL_A }, { job: 0, every: true }],
  mask: { url: URL_B },
};

describe("a masked edit", () => {
  it("changes the marked area as the prompt says, and nothing else", () => {
    expect(buildJobs(maskImage, { ...raw, prompt: "a plant" })).toEqual([
      { task: "image.edit", model: "edit-default", prompt: "a plant", images: [{ url: URL_A }], mask: { url: URL_B } },
      blend,
    ]);
  });

  it("removes the marked area without a prompt", () => {
    expect(buildJobs(maskImage, raw)).toEqual([
      { task: "image.remove", model: "remove-default", images: [{ url: URL_A }], mask: { url: URL_B } },
      blend,
    ]);
  });

  it("accepts runs and files, and the run of its original becomes the parent", () => {
    const raw = { original_image_url: RUN_ID, mask_image_url: createTestFilePart() };
    const [edit] = buildJobs(maskImage, raw, "form");
    expect(edit).toMatchObject({ images: [{ run: RUN_ID }], mask: { asset: FILE_ASSET_ID } });
    expect(resolveParent(maskImage, raw, "form")).toBe(RUN_ID);
    expect(resolveParent(maskImage, { original_image_url: URL_A, mask_image_url: RUN_ID })).toBeUndefined();
  });

  it.each<[object, string[]]>([
    [{}, ["/original_image_url required", "/mask_image_url required"]],
    [{ ...raw, edit_server_url: URL_A }, ["/edit_server_url unknown_field"]],
    [{ ...raw, mask_image_url: "ftp://example.com/a" }, ["/mask_image_url ambiguous_reference"]],
  ])("%j is refused with %j", (given, complaints) => {
    expect(listValidationErrors(maskImage, given as never)).toEqual(complaints);
  });
});
