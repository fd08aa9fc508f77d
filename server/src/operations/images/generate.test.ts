import { describe, expect, it } from "vitest";
import {
  buildJobs,
  listValidationErrors,
  parseOperationInput,
  RUN_ID,
  URL_A,
  URL_B,
  warningsOf,
} from "../../../test/support/operation-plans.ts";
import { modelIds } from "../../contract/models.ts";
import { generateImage as generate } from "./generate.ts";

describe("a generation", () => {
  it("sends the provided fields and no defaults", () => {
    expect(buildJobs(generate, { prompt: "x" })).toEqual([
      { task: "image.generate", model: "flux-dev", prompt: "x", count: 1 },
    ]);
    expect(parseOperationInput(generate, { prompt: "x" }).input).toMatchObject({ guidance: 7.5, model_weight: 0.7 });
    expect(buildJobs(generate, { prompt: "x", guidance: 3, batch_size: 2, batch_count: 2 })[0]).toMatchObject({
      count: 4,
      options: { guidance: 3 },
    });
  });

  it("omits what the model does not use, with a warning", () => {
    const raw = { prompt: "x", image_urls: [URL_A, URL_B] };
    expect(buildJobs(generate, raw)[0]!.images).toBeUndefined();
    expect(warningsOf(generate, raw)).toEqual(["image_urls"]);
  });

  it("repaints within a mask, and keeps the rest of the source", () => {
    const raw = { prompt: "x", model_type: "gemini-2.5", reference_image_url: URL_A, mask_url: URL_B };
    const [edit, blend] = buildJobs(generate, raw);
    expect(edit).toMatchObject({
      task: "image.edit",
      model: "gemini-2.5",
      images: [{ url: URL_A }],
      mask: { url: URL_B },
    });
    expect(blend).toMatchObject({ task: "image.blend", images: [{ url: URL_A }, { job: 0, every: true }] });
  });

  it("enlarges with every model, and within a mask after the rest of the source was restored", () => {
    for (const model_type of ["nanobanana", "vendora", "qwen-image-edit"]) {
      const raw = { prompt: "x", model_type, width: 64, height: 64, upscale_factor: 2 };
      expect(buildJobs(generate, raw)[0]!.options).toEqual({ upscale_factor: 2 });
      expect(warningsOf(generate, raw)).not.toContain("upscale_factor");
    }
    const masked = { prompt: "x", model_type: "gemini-2.5", reference_image_url: URL_A, mask_url: URL_B };
    const [edit, , upscale, resize] = buildJobs(generate, { ...masked, upscale_factor: 1.5, batch_size: 2 });
    expect(edit!.options).toBeUndefined();
    expect([upscale, resize]).toEqual([
      {
        ...{ task: "image.upscale", model: "upscale-default", images: [{ job: 1, each: true }] },
        ...{ request_count: 2, options: { factor: 2 } },
      },
      {
        ...{ task: "image.resize", model: "local", images: [{ job: 2, each: true }] },
        ...{ request_count: 2, options: { scale: 0.75 } },
      },
    ]);
  });

  it("ignores a mask without an image below it", () => {
    const raw = { prompt: "x", model_type: "gemini-2.5", mask_url: URL_B };
    expect(buildJobs(generate, raw)).toEqual([{ task: "image.generate", model: "gemini-2.5", prompt: "x", count: 1 }]);
    expect(warningsOf(generate, raw)).toEqual(["mask_url"]);
  });

  it("creates two images with wan-image-2.1, whatever number is requested", () => {
    const raw = { prompt: "x", model_type: "wan-image-2.1", model_id: RUN_ID, width: 64, height: 64 };
    expect(buildJobs(generate, raw)[0]!.count).toBe(2);
    expect(listValidationErrors(generate, { ...raw, batch_size: 3 })).toEqual(["/batch_size unsupported_parameter"]);
  });

  it.each(modelIds)("of %s has at most 10 images in both lists together", (model_type) => {
    const urls = (count: number) => Array.from({ length: count }, () => URL_A);
    const lists = { prompt: "x", model_type, run_ids: [RUN_ID, RUN_ID] };
    const isTooMany = (count: number) =>
      listValidationErrors(generate, { ...lists, image_urls: urls(count) }).includes("/image_urls too_many_items");
    expect([isTooMany(2), isTooMany(9)]).toEqual([false, true]);
  });

  it("accepts images only as URLs", () => {
    const base64 = `data:image/png;base64,${"iVBORw0KGgo".repeat(9)}`;
    expect(listValidationErrors(generate, { prompt: "x", reference_image_url: base64 })).toEqual([
      "/reference_image_url unknown_value",
    ]);
  });
});
