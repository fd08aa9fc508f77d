import { describe, expect, it } from "vitest";
import {
  complaintsOf,
  FILE,
  fileOf,
  PARENT,
  parentOf,
  planOf,
  RUN,
  read,
  URL_A,
  URL_B,
  warningsOf,
} from "../../../test/plans.ts";
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
      planOf(operation, { prompt: "x", run_id: RUN, reference_image_url: URL_B, aspect_ratio: "3:2", seed: 7 }),
    ).toMatchObject([
      { task: "image.edit", model, prompt: "x", images: [{ run: RUN }, { url: URL_B }], aspect_ratio: "3:2", seed: 7 },
    ]);
  });

  it("takes a file before an address before a run, and the run stays the parent", () => {
    const raw = { prompt: "x", run_id: PARENT, image_url: URL_A };
    expect(planOf(operation, raw)[0]!.images).toEqual([{ url: URL_A }]);
    expect(planOf(operation, { ...raw, image: fileOf() }, "form")[0]!.images).toEqual([{ asset: FILE }]);
    expect(parentOf(operation, { ...raw, image: fileOf() }, "form")).toBe(PARENT);
    expect(parentOf(operation, { prompt: "x", image_url: RUN })).toBeUndefined();
  });

  it("reads reference_url as reference_image_url, and refuses two different values", () => {
    const raw = { prompt: "x", run_id: RUN };
    expect(read(operation, { ...raw, reference_url: URL_B }).input).toMatchObject({ reference_image_url: URL_B });
    expect(read(operation, { ...raw, reference_url: URL_B }).input).not.toHaveProperty("reference_url");
    expect(complaintsOf(operation, { ...raw, reference_url: URL_B, reference_image_url: URL_B })).toEqual([]);
    expect(complaintsOf(operation, { ...raw, reference_url: URL_B, reference_image_url: URL_A })).toEqual([
      "/reference_image_url exactly_one_of",
    ]);
  });

  it("needs a prompt and a picture", () => {
    expect(complaintsOf(operation, {}).sort()).toEqual(["/image_url at_least_one_of", "/prompt required"]);
    expect(complaintsOf(operation, { prompt: "x", image_url: "my picture" })).toEqual([
      "/image_url ambiguous_reference",
    ]);
  });

  it("has the file field in forms only", () => {
    expect(complaintsOf(operation, { prompt: "x", run_id: RUN, image: URL_A })).toEqual(["/image unknown_field"]);
    expect(complaintsOf(operation, { prompt: "x", image: URL_A }, "form")).toEqual(["/image invalid_type"]);
  });
});

describe.each(masked)("an edit by %s with a mask", (model, operation) => {
  it("is laid over the original, which keeps its shape", () => {
    const raw = { prompt: "x", run_id: RUN, mask_url: URL_B, aspect_ratio: "1:1" };
    const [edit, blend, ...more] = planOf(operation, raw);
    expect(edit).toMatchObject({ task: "image.edit", model, images: [{ run: RUN }], mask: { url: URL_B } });
    expect(edit!.aspect_ratio).toBeUndefined();
    expect(blend).toEqual({
      task: "image.blend",
      model: "local",
      images: [{ run: RUN }, { job: 0, every: true }],
      mask: { url: URL_B },
    });
    expect(more).toEqual([]);
    expect(warningsOf(operation, raw)).toEqual(["aspect_ratio"]);
  });

  it("takes the mask of the form before the one at an address", () => {
    const raw = { prompt: "x", run_id: RUN, mask_url: URL_B, mask: fileOf() };
    expect(planOf(operation, raw, "form")[0]!.mask).toEqual({ asset: FILE });
  });
});

describe("what only some of them know", () => {
  it("is several results, with vendora", () => {
    expect(planOf(editVendora, { prompt: "x", run_id: RUN, n: 3 })[0]!.count).toBe(3);
    expect(planOf(editVendora, { prompt: "x", run_id: RUN })[0]!.count).toBe(1);
    expect(complaintsOf(editVendora, { prompt: "x", run_id: RUN, n: 5 })).toEqual(["/n out_of_range"]);
    expect(complaintsOf(editNanobanana, { prompt: "x", run_id: RUN, n: 2 })).toEqual(["/n unknown_field"]);
    expect(complaintsOf(editGemini25, { prompt: "x", run_id: RUN, n: 2 })).toEqual(["/n unknown_field"]);
  });

  it("is a mask, which nanobanana does not take", () => {
    expect(complaintsOf(editNanobanana, { prompt: "x", run_id: RUN, mask_url: URL_A })).toEqual([
      "/mask_url unknown_field",
    ]);
  });
});
