import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../contract/operation.ts";
import { adjustParameters, canServe } from "./adjust-parameters.ts";
import { asAspectRatio, asSize, HONOURED, honourAll, onlyWith, unlessWith, within } from "./parameter-support.ts";
import type { Offer, OfferLimits } from "./provider.ts";

const GENERATE = honourAll("image.generate");
const BY_SIZE = { parameters: { ...GENERATE, ...honourAll("video.generate"), aspect_ratio: asSize } };
const BY_RATIO = { parameters: { ...GENERATE, width: asAspectRatio, height: asAspectRatio } };

const offer = (limits: OfferLimits, more: Partial<Offer> = {}): Offer => ({
  task: "image.generate",
  model: "flux-dev",
  upstreamModel: "x",
  recovery: "none",
  price: null,
  limits,
  parameters: { ...GENERATE, ...honourAll("video.generate") },
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
    const asked = job({ width: 1024, height: 768, aspect_ratio: "4:3", options: { duration: 5, steps: 20 } });
    const roomy = offer({ sides: { least: 64, most: 2048, step: 16 }, durations: [5, 10] });
    expect(adjustParameters(asked, roomy)).toEqual({ job: asked, changes: [] });
    expect(adjustParameters(asked, offer({}))).toEqual({ job: asked, changes: [] });
  });
});

describe("an aspect ratio", () => {
  it("becomes the nearest one that the model supports, with a warning", () => {
    const { job: made, changes } = adjustParameters(
      job({ aspect_ratio: "5:4" }),
      offer({ ratios: ["1:1", "4:3", "16:9"] }, BY_RATIO),
    );
    expect(made.aspect_ratio).toBe("4:3");
    expect(changes).toEqual([
      {
        field: "aspect_ratio",
        given: "5:4",
        used: "4:3",
        message: "aspect_ratio was adjusted from 5:4 to 4:3, the nearest that this model supports.",
      },
    ]);
  });

  it("is derived from the size if the model accepts no sizes, with a warning for each side", () => {
    const ratios = offer({ ratios: ["1:1", "3:2", "16:9"] }, BY_RATIO);
    expect(adjustParameters(job({ width: 900, height: 500 }), ratios)).toMatchObject({
      job: { aspect_ratio: "16:9" },
      changes: [
        { field: "width", given: 900, used: "16:9" },
        { field: "height", given: 500, used: "16:9" },
      ],
    });
  });

  it("goes with the nearest named size if the model has such names", () => {
    const named = offer({ ratios: ["1:1", "16:9"], resolutions: { "1K": 2 ** 20, "2K": 2 ** 22 } }, BY_RATIO);
    expect(adjustParameters(job({ width: 2048, height: 1152 }), named)).toMatchObject({
      job: { aspect_ratio: "16:9", options: { resolution: "2K" } },
      changes: [
        { field: "width", message: "width was adjusted from 2048 to the aspect ratio 16:9 in 2K." },
        { field: "height", message: "height was adjusted from 1152 to the aspect ratio 16:9 in 2K." },
      ],
    });
    expect(adjustParameters(job({ aspect_ratio: "16:9" }), named).job).not.toHaveProperty("options");
  });

  it("takes precedence over a size that the model does not accept", () => {
    const ratios = offer({ ratios: ["1:1", "3:2", "16:9"] }, BY_RATIO);
    expect(adjustParameters(job({ width: 900, height: 500, aspect_ratio: "1:1" }), ratios)).toMatchObject({
      job: { aspect_ratio: "1:1" },
      changes: [{ field: "width" }, { field: "height" }],
    });
  });

  it("that is a keyword of the API is left to the adapter", () => {
    const asked = job({ aspect_ratio: "match_input_image" });
    expect(adjustParameters(asked, offer({ ratios: ["1:1"] }, BY_RATIO)).job).toEqual(asked);
  });
});

describe("a size", () => {
  it("becomes the nearest in a list; the aspect ratio counts more than the number of pixels", () => {
    const sizes = { sizes: ["1024x1024", "1536x1024", "1024x1536"] };
    expect(adjustParameters(job({ width: 300, height: 200 }), offer(sizes, BY_SIZE)).job).toMatchObject({
      width: 1536,
      height: 1024,
    });
    expect(adjustParameters(job({ width: 2000, height: 2000 }), offer(sizes, BY_SIZE)).job).toMatchObject({
      width: 1024,
      height: 1024,
    });
  });

  it("is derived from the aspect ratio without a warning if the model accepts only sizes", () => {
    const { job: made, changes } = adjustParameters(
      job({ aspect_ratio: "16:9" }),
      offer({ sides: { least: 256, most: 1440, step: 32 } }, BY_SIZE),
    );
    expect(made).toMatchObject({ width: 1376, height: 768 });
    expect(changes).toEqual([]);
  });

  it("that has another aspect ratio than the requested one causes a warning", () => {
    const sizes = offer({ sizes: ["1024x1024", "1536x1024"] }, BY_SIZE);
    expect(adjustParameters(job({ aspect_ratio: "16:9" }), sizes).changes).toMatchObject([
      { field: "aspect_ratio", given: "16:9", used: "1536x1024" },
    ]);
    const both = job({ width: 1024, height: 1024, aspect_ratio: "16:9" });
    expect(adjustParameters(both, sizes).changes).toMatchObject([
      { field: "aspect_ratio", given: "16:9", used: "1024x1024" },
    ]);
  });

  it("needs both sides", () => {
    const { job: made, changes } = adjustParameters(job({ width: 512 }), offer({}, BY_SIZE));
    expect(made.width).toBeUndefined();
    expect(changes).toMatchObject([{ field: "width", given: 512, used: undefined }]);
  });

  it("is within every bound for any requested size", () => {
    const side = fc.integer({ min: 64, max: 2048 });
    const steps = fc.constantFrom(8, 16, 32);
    fc.assert(
      fc.property(side, side, steps, fc.constantFrom(undefined, 1_000_000), (width, height, step, mostPixels) => {
        const sides = { least: 256, most: 1440, step, ...(mostPixels && { mostPixels }) };
        const { job: made, changes } = adjustParameters(job({ width, height }), offer({ sides }, BY_SIZE));
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
      changes: [
        {
          field: "duration",
          given: 3,
          used: 5,
          message: "duration was adjusted from 3 s to 5 s, the nearest that this model supports.",
        },
      ],
    });
    expect(adjustParameters(asked, offer({ duration: { least: 4, most: 8 } })).job.options).toEqual({ duration: 4 });
  });
});

describe("a parameter that the model does not support", () => {
  it("is removed and named in a warning, with the given value", () => {
    const asked = job({ seed: 7, negative_prompt: "fog", options: { steps: 20, guidance: 3 } });
    const { job: made, changes } = adjustParameters(
      asked,
      offer({}, { parameters: { prompt: HONOURED, steps: HONOURED } }),
    );
    expect(made).toEqual({ task: "image.generate", model: "flux-dev", prompt: "a tree", options: { steps: 20 } });
    expect(changes.map(({ message }) => message)).toEqual([
      "negative_prompt is not supported by this model: fog was ignored.",
      "seed is not supported by this model: 7 was ignored.",
      "guidance is not supported by this model: 3 was ignored.",
    ]);
  });

  it("loses what Gesso derived from it, without a second warning", () => {
    const asked = job({ options: { model_id: "x", deployment_id: "ink" } });
    const { job: made, changes } = adjustParameters(asked, offer({}, { parameters: { prompt: HONOURED } }));
    expect(made.options).toBeUndefined();
    expect(changes.map(({ field }) => field)).toEqual(["model_id"]);
  });

  it("is removed without a warning if Gesso filled it in", () => {
    const asked = job({ seed: 7, defaulted: ["seed"] });
    expect(adjustParameters(asked, offer({}, { parameters: { prompt: HONOURED } }))).toMatchObject({ changes: [] });
  });

  it("can depend on another one", () => {
    const parameters = { ...GENERATE, guidance: unlessWith("cfg_scale"), strength_model: onlyWith("lora_1") };
    const changesOf = (options: Job["options"]) =>
      adjustParameters(job({ options }), offer({}, { parameters })).changes;
    expect(changesOf({ guidance: 3, lora_1: "ink", strength_model: 1 })).toEqual([]);
    expect(changesOf({ guidance: 3, cfg_scale: 4, strength_model: 1 }).map(({ message }) => message)).toEqual([
      "guidance is not supported by this model together with cfg_scale: 3 was ignored.",
      "strength_model is not supported by this model without lora_1: 1 was ignored.",
    ]);
  });
});

describe("a number with bounds", () => {
  it("becomes the nearest bound, with a warning that names both values", () => {
    const bounded = offer({}, { parameters: { ...GENERATE, guidance: within({ least: 1.5, most: 5 }) } });
    const made = (guidance: number) => adjustParameters(job({ options: { guidance } }), bounded);
    expect(made(3)).toMatchObject({ job: { options: { guidance: 3 } }, changes: [] });
    expect(made(60)).toMatchObject({
      job: { options: { guidance: 5 } },
      changes: [{ message: "guidance was adjusted from 60 to 5, the nearest that this model supports." }],
    });
    expect(made(0).job.options).toEqual({ guidance: 1.5 });
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
