import { describe, expect, it } from "vitest";
import {
  buildJobs,
  createTestFilePart,
  FILE_ASSET_ID,
  listValidationErrors,
  parseOperationInput,
  RUN_ID,
  URL_A,
  URL_B,
  warningsOf,
} from "../../../test/support/operation-plans.ts";
import { combineImages } from "./combine.ts";
import { combineGemini25 } from "./combine-gemini25.ts";
import { combineNanobanana } from "./combine-nanobanana.ts";

const many = (count: number) => Array.from({ length: count }, () => URL_A);

describe("a plain combination", () => {
  it("is one local job with the images in their order and every setting", () => {
    expect(buildJobs(combineImages, { images: [URL_B, createTestFilePart(), RUN_ID] }, "form")).toEqual([
      {
        task: "image.combine",
        model: "local",
        images: [{ url: URL_B }, { asset: FILE_ASSET_ID }, { run: RUN_ID }],
        options: { mode: "side-by-side", gap: 0, background: "transparent", opacity: 1, output_format: "png" },
      },
    ]);
  });

  it("is on white in a JPEG, with a warning", () => {
    const raw = { images: many(2), output_format: "jpeg" };
    expect(parseOperationInput(combineImages, raw).input).toMatchObject({ background: "#ffffff" });
    expect(warningsOf(combineImages, raw)).toEqual([]);
    expect(parseOperationInput(combineImages, { ...raw, background: "transparent" }).input).toMatchObject({
      background: "#ffffff",
    });
    expect(warningsOf(combineImages, { ...raw, background: "transparent" })).toEqual(["background"]);
    expect(parseOperationInput(combineImages, { ...raw, background: "#00ff00" }).input).toMatchObject({
      background: "#00ff00",
    });
  });

  it("warns about settings that its mode does not use", () => {
    expect(warningsOf(combineImages, { images: many(2), opacity: 0.5 })).toEqual(["opacity"]);
    expect(warningsOf(combineImages, { images: many(2), mode: "overlay", opacity: 0.5, gap: 8 })).toEqual(["gap"]);
  });

  it.each<[object, string[]]>([
    [{ images: many(1) }, ["/images too_few_items"]],
    [{ images: many(2) }, []],
    [{ images: many(10) }, []],
    [{ images: many(11) }, ["/images too_many_items"]],
    [{}, ["/images required"]],
    [{ images: [URL_A, "words"] }, ["/images/1 ambiguous_reference"]],
    [{ images: many(2), mode: "diagonal" }, ["/mode unknown_value"]],
    [{ images: many(2), output_format: "gif" }, ["/output_format unknown_value"]],
    [{ images: many(2), gap: 513 }, ["/gap out_of_range"]],
    [{ images: many(2), background: "red" }, ["/background unknown_value"]],
  ])("%j is refused with %j", (raw, complaints) => {
    expect(listValidationErrors(combineImages, raw as never)).toEqual(complaints);
  });
});

describe.each([
  ["nanobanana", combineNanobanana],
  ["gemini-2.5", combineGemini25],
] as const)("a combination by %s", (model, operation) => {
  it("sends URLs, runs and files to one edit, and has no parent", () => {
    const raw = {
      prompt: "x",
      image_urls: [URL_A, URL_B],
      run_ids: [RUN_ID, RUN_ID],
      images: [createTestFilePart()],
      aspect_ratio: "3:2",
    };
    expect(buildJobs(operation, raw, "form")).toEqual([
      {
        task: "image.edit",
        model,
        prompt: "x",
        images: [{ url: URL_A }, { url: URL_B }, { run: RUN_ID }, { run: RUN_ID }, { asset: FILE_ASSET_ID }],
        aspect_ratio: "3:2",
      },
    ]);
    expect(operation.parent).toBeUndefined();
  });

  it.each<[object, string[]]>([
    [{ image_urls: many(1) }, ["/image_urls too_few_items"]],
    [{ image_urls: many(11) }, ["/image_urls too_many_items"]],
    [{ run_ids: [RUN_ID] }, ["/run_ids too_few_items", "/image_urls too_few_items"]],
    [{ run_ids: Array(11).fill(RUN_ID) }, ["/run_ids too_many_items", "/image_urls too_many_items"]],
    [{ image_urls: many(6), run_ids: Array(5).fill(RUN_ID) }, ["/image_urls too_many_items"]],
    [{ images: [URL_A] }, ["/image_urls too_few_items"]],
    [{ images: [URL_A, RUN_ID] }, []],
    [{}, ["/image_urls too_few_items"]],
  ])("%j is refused with %j", (raw, complaints) => {
    expect(listValidationErrors(operation, { prompt: "x", ...raw })).toEqual(complaints);
  });
});
