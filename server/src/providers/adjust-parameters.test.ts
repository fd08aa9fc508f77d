import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../kit/operation.ts";
import { adjustParameters, canServe } from "./adjust-parameters.ts";
import type { Offer, OfferLimits } from "./provider.ts";

const offer = (limits: OfferLimits, more: Partial<Offer> = {}): Offer => ({
  task: "image.generate",
  model: "flux-dev",
  upstreamModel: "x",
  recovery: "none",
  price: null,
  limits,
  ...more,
});
const job = (more: Partial<Job> = {}): Job => ({
  task: "image.generate",
  model: "flux-dev",
  prompt: "a tree",
  ...more,
});

describe("a job within the limits", () => {
  it("is not changed and causes no warning", () => {
    const asked = job({ width: 1024, height: 768, aspect_ratio: "4:3", options: { duration: 5 } });
    const roomy = offer({ sides: { least: 64, most: 2048, step: 16 }, durations: [5, 10] });
    expect(adjustParameters(asked, roomy)).toEqual({ job: asked, changes: [] });
    expect(adjustParameters(asked, offer({}))).toEqual({ job: asked, changes: [] });
  });
});

describe("an aspect ratio", () => {
  it("becomes the nearest one that the model supports, with a warning", () => {
    const { job: made, changes } = adjustParameters(
      job({ aspect_ratio: "5:4" }),
      offer({ ratios: ["1:1", "4:3", "16:9"] }),
    );
    expect(made.aspect_ratio).toBe("4:3");
    expect(changes).toEqual([
      { field: "aspect_ratio", message: "aspect_ratio was adjusted to 4:3, the nearest that this model supports." },
    ]);
  });

  it("is derived from the size if the model accepts no sizes", () => {
    const ratios = { ratios: ["1:1", "3:2", "16:9"] };
    expect(adjustParameters(job({ width: 900, height: 600 }), offer(ratios))).toMatchObject({
      job: { aspect_ratio: "3:2" },
      changes: [],
    });
    expect(adjustParameters(job({ width: 900, height: 500 }), offer(ratios))).toMatchObject({
      job: { aspect_ratio: "16:9" },
      changes: [{ field: "width" }],
    });
  });

  it("that is a keyword of the API is left to the adapter", () => {
    const asked = job({ aspect_ratio: "match_input_image" });
    expect(adjustParameters(asked, offer({ ratios: ["1:1"] })).job).toEqual(asked);
  });
});

describe("a size", () => {
  it("becomes the nearest in a list; the aspect ratio counts more than the number of pixels", () => {
    const sizes = { sizes: ["1024x1024", "1536x1024", "1024x1536"] };
    expect(adjustParameters(job({ width: 300, height: 200 }), offer(sizes)).job).toMatchObject({
      width: 1536,
      height: 1024,
    });
    expect(adjustParameters(job({ width: 2000, height: 2000 }), offer(sizes)).job).toMatchObject({
      width: 1024,
      height: 1024,
    });
  });

  it("is derived from the aspect ratio without a warning if the model accepts only sizes", () => {
    const { job: made, changes } = adjustParameters(
      job({ aspect_ratio: "16:9" }),
      offer({ sides: { least: 256, most: 1440, step: 32 } }),
    );
    expect(made).toMatchObject({ width: 1376, height: 768 });
    expect(changes).toEqual([]);
  });

  it("is within every bound for any requested size", () => {
    const side = fc.integer({ min: 64, max: 2048 });
    const steps = fc.constantFrom(8, 16, 32);
    fc.assert(
      fc.property(side, side, steps, fc.constantFrom(undefined, 1_000_000), (width, height, step, mostPixels) => {
        const sides = { least: 256, most: 1440, step, ...(mostPixels && { mostPixels }) };
        const { job: made, changes } = adjustParameters(job({ width, height }), offer({ sides }));
        for (const length of [made.width!, made.height!]) {
          expect(length % step).toBe(0);
          expect(length).toBeGreaterThanOrEqual(256);
          expect(length).toBeLessThanOrEqual(1440);
        }
        expect(changes.length > 0).toBe(made.width !== width || made.height !== height);
      }),
    );
  });
});

describe("a duration", () => {
  it("becomes the nearest one that the model supports, with a warning", () => {
    const asked = job({ options: { duration: 3 } });
    expect(adjustParameters(asked, offer({ durations: [5, 9] }))).toMatchObject({
      job: { options: { duration: 5 } },
      changes: [{ field: "duration", message: "duration was adjusted to 5 s, the nearest that this model supports." }],
    });
    expect(adjustParameters(asked, offer({ duration: { least: 4, most: 8 } })).job.options).toEqual({ duration: 4 });
  });
});

describe("an option that the model does not use", () => {
  it("is named in a warning", () => {
    const asked = job({ options: { steps: 20, guidance: 3 } });
    expect(
      adjustParameters(asked, offer({}, { supportedOptions: ["guidance"] })).changes.map(({ field }) => field),
    ).toEqual(["steps"]);
  });

  it("causes no warning if the caller did not send it", () => {
    const asked = job({ options: { model_id: "x", deployment_id: "ink" } });
    expect(adjustParameters(asked, offer({}, { supportedOptions: [] })).changes.map(({ field }) => field)).toEqual([
      "model_id",
    ]);
  });
});

describe("an offer", () => {
  const can = (limits: OfferLimits, more: Partial<Job<unknown>> = {}) => canServe(offer(limits), { ...job(), ...more });

  it("does not serve a job that exceeds limits which cannot be adjusted", () => {
    expect(can({})).toBe(true);
    expect(can({ mask: false }, { mask: {}, images: [{}] })).toBe(false);
    expect(can({ images: 2 }, { images: [1, 2, 3] })).toBe(false);
    expect(can({ prompt: 5 })).toBe(false);
    expect(canServe(offer({}, { supports: ({ images }) => images !== undefined }), job())).toBe(false);
    expect(canServe(offer({}, { lifecycle: { state: "retired" } }), job())).toBe(false);
    expect(canServe(offer({}, { lifecycle: { state: "deprecated" } }), job())).toBe(true);
  });
});
