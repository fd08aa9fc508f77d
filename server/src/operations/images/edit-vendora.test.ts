import { describe, expect, it } from "vitest";
import {
  buildJobs,
  createTestFilePart,
  FILE_ASSET_ID,
  listValidationErrors,
  PARENT_RUN_ID,
  parseOperationInput,
  RUN_ID,
  resolveParent,
  URL_A,
  URL_B,
  warningsOf,
} from "../../../test/support/operation-plans.ts";
import { editGemini25 } from "./edit-gemini25.ts";
import { editNanobanana } from "./edit-nanobanana.ts";
import { editVendora } from "./edit-vendora.ts";

const edits = [
  ["vendora", editVendora],
  ["nanobanana", editNanobanana],
  ["gemini-2.5", editGemini25],
] as const;
const masked = [
  ["vendora", editVendora],
  ["gemini-2.5", editGemini25],
] as const;

describe.each(edits)("an edit by %s", (model, operation) => {
  it("sends the source first and the reference after it", () => {
    expect(
      buildJobs(operation, { prompt: "x", run_id: RUN_ID, reference_image_url: URL_B, aspect_ratio: "3:2", seed: 7 }),
    ).toMatchObject([
      {
        task: "image.edit",
        model,
        prompt: "x",
        images: [{ run: RUN_ID }, { url: URL_B }],
        aspect_ratio: "3:2",
        seed: 7,
      },
    ]);
  });

  it("prefers a file to a URL to a run, and the run stays the parent", () => {
    const raw = { prompt: "x", run_id: PARENT_RUN_ID, image_url: URL_A };
    expect(buildJobs(operation, raw)[0]!.images).toEqual([{ url: URL_A }]);
    expect(buildJobs(operation, { ...raw, image: createTestFilePart() }, "form")[0]!.images).toEqual([
      { asset: FILE_ASSET_ID },
    ]);
    expect(resolveParent(operation, { ...raw, image: createTestFilePart() }, "form")).toBe(PARENT_RUN_ID);
    expect(resolveParent(operation, { prompt: "x", image_url: RUN_ID })).toBeUndefined();
  });

  it("reads reference_url as reference_image_url, and refuses two different values", () => {
    const raw = { prompt: "x", run_id: RUN_ID };
    expect(parseOperationInput(operation, { ...raw, reference_url: URL_B }).input).toMatchObject({
      reference_image_url: URL_B,
    });
    expect(parseOperationInput(operation, { ...raw, reference_url: URL_B }).input).not.toHaveProperty("reference_url");
    expect(listValidationErrors(operation, { ...raw, reference_url: URL_B, reference_image_url: URL_B })).toEqual([]);
    expect(listValidationErrors(operation, { ...raw, reference_url: URL_B, reference_image_url: URL_A })).toEqual([
      "/reference_image_url exactly_one_of",
    ]);
  });

  it("needs a prompt and an image", () => {
    expect(listValidationErrors(operation, {}).sort()).toEqual(["/image_url at_least_one_of", "/prompt required"]);
    expect(listValidationErrors(operation, { prompt: "x", image_url: "my picture" })).toEqual([
      "/image_url ambiguous_reference",
    ]);
  });

  it("has the file field in forms only", () => {
    expect(listValidationErrors(operation, { prompt: "x", run_id: RUN_ID, image: URL_A })).toEqual([
      "/image unknown_field",
    ]);
    expect(listValidationErrors(operation, { prompt: "x", image: URL_A }, "form")).toEqual(["/image invalid_type"]);
  });
});

describe.each(masked)("an edit by %s with a mask", (model, operation) => {
  it("is blended with the original, which keeps its aspect ratio", () => {
    const raw = { prompt: "x", run_id: RUN_ID, mask_url: URL_B, aspect_ratio: "1:1" };
    const [edit, blend, ...more] = buildJobs(operation, raw);
    expect(edit).toMatchObject({ task: "image.edit", model, images: [{ run: RUN_ID }], mask: { url: URL_B } });
    expect(edit!.aspect_ratio).toBeUndefined();
    expect(blend).toEqual({
      task: "image.blend",
      model: "local",
      images: [{ run: RUN_ID }, { job: 0, every: true }],
      mask: { url: URL_B },
    });
    expect(more).toEqual([]);
    expect(warningsOf(operation, raw)).toEqual(["aspect_ratio"]);
  });

  it("prefers the mask of the form to the one at a URL", () => {
    const raw = { prompt: "x", run_id: RUN_ID, mask_url: URL_B, mask: createTestFilePart() };
    expect(buildJobs(operation, raw, "form")[0]!.mask).toEqual({ asset: FILE_ASSET_ID });
  });
});

describe("the features of a single provider", () => {
  it("are several results, with vendora", () => {
    expect(buildJobs(editVendora, { prompt: "x", run_id: RUN_ID, n: 3 })[0]!.count).toBe(3);
    expect(buildJobs(editVendora, { prompt: "x", run_id: RUN_ID })[0]!.count).toBe(1);
    expect(listValidationErrors(editVendora, { prompt: "x", run_id: RUN_ID, n: 5 })).toEqual(["/n out_of_range"]);
    expect(listValidationErrors(editNanobanana, { prompt: "x", run_id: RUN_ID, n: 2 })).toEqual(["/n unknown_field"]);
    expect(listValidationErrors(editGemini25, { prompt: "x", run_id: RUN_ID, n: 2 })).toEqual(["/n unknown_field"]);
  });

  it("do not include a mask, with nanobanana", () => {
    expect(listValidationErrors(editNanobanana, { prompt: "x", run_id: RUN_ID, mask_url: URL_A })).toEqual([
      "/mask_url unknown_field",
    ]);
  });
});
