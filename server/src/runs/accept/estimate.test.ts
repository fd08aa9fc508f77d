// Prices from offers that are written down here: the sum, its basis, and what is not known.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Job } from "../../contract/operation.ts";
import { Estimate } from "../../contract/schemas/library.ts";
import { Fault } from "../../faults/faults.ts";
import { flatPrice } from "../../prices/price.ts";
import { honourAll } from "../../providers/parameter-support.ts";
import { defineProvider, type Offer } from "../../providers/provider.ts";
import type { OfferDependencies } from "../offers/select-offer.ts";
import { estimateJobs, planOperation } from "./estimate.ts";
import type { ImportedModels } from "./imported-models.ts";

const TENANT = "01990000-0000-7000-8000-000000000001";
const importedModels: ImportedModels = {
  require: () => Promise.reject(new Error("these operations use no imported model")),
  check: () => {},
  forget: () => {},
};
const estimateOperation = async (services: OfferDependencies, operation: string, input: Record<string, unknown>) =>
  estimateJobs(services, await planOperation({ ...services, importedModels }, operation, input, TENANT));

const offer = (model: string, price: number | null, more: Partial<Offer> = {}): Offer => ({
  ...{
    task: "image.generate",
    model,
    upstreamModel: model,
    recovery: "none",
    price: price === null ? null : flatPrice(price),
  },
  parameters: { ...honourAll("image.generate"), ...honourAll("image.upscale"), ...honourAll("video.generate") },
  ...more,
});

const fakeProvider = (id: string, offers: Offer[]) => ({
  env: {},
  provider: defineProvider({
    ...{ id, offers, env: z.object({}), resultOrigins: () => [] },
    submit: () => Promise.reject(new Error("an estimate sends nothing")),
    poll: () => Promise.reject(new Error("an estimate asks nothing")),
  }),
});

const services = {
  providers: {
    enabled: [
      fakeProvider("first", [
        offer("flux-dev", 0.1),
        offer("nanobanana", null),
        offer("vendora", 0, { price: { ...flatPrice(0), version: "7" } }),
      ]),
      fakeProvider("second", [offer("flux-dev", 5)]),
    ],
  },
};
const estimate = async (operation: string, input: Record<string, unknown>) =>
  Estimate.parse(await estimateOperation(services, operation, input));

const refusalOf = async (ask: () => Promise<unknown>): Promise<Fault> => {
  try {
    await ask();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error("it was not refused");
};

describe("a price", () => {
  it("is that of the offer that would be selected, for the requested number of results", async () => {
    expect(await estimate("images.generate", { prompt: "x", batch_size: 3 })).toEqual({
      currency: "USD",
      amount: 0.3,
      known: true,
      at_most: false,
      basis: [{ what: "image.generate flux-dev, per image", quantity: 3, unit_price: 0.1, price_version: "1" }],
    });
  });

  it("is that of the next offer, if a source of unknown size may exceed a limit of a cheaper one", () => {
    const task = "image.upscale";
    const free = offer("upscale-default", 0, { task, limits: { source: { mostPixels: 100 } } });
    const jobOf = (source_size?: { width: number; height: number }): Job => ({
      ...{ task, model: "upscale-default", images: [{ url: "https://example.com/a.png" }] },
      ...(source_size && { source_size }),
    });
    const amountOf = (job: Job, next: number | null) => {
      const enabled = [
        fakeProvider("here", [free]),
        fakeProvider("v", [offer("upscale-default", next, { task, upstreamModel: "x" })]),
      ];
      return estimateJobs({ providers: { enabled } }, [job]).amount;
    };
    expect(amountOf(jobOf(), 0.3)).toBe(0.3);
    expect(amountOf(jobOf({ width: 10, height: 10 }), 0.3)).toBe(0);
    expect(amountOf(jobOf({ width: 11, height: 10 }), 0.3)).toBe(0.3);
    // The run does not move to an offer whose price is unknown.
    expect(amountOf(jobOf(), null)).toBe(0);
  });

  it("is the sum of all jobs of a plan, and unknown if one of them is", async () => {
    const find = offer("segment-default", 0.02, { task: "image.segment" });
    const cut = offer("local", 0, { task: "image.cut" });
    const input = { image_url: "https://example.com/a.png", prompt: "the lamp" };
    const of = (offers: Offer[]) =>
      estimateOperation({ providers: { enabled: [fakeProvider("v", offers)] } }, "images.extract", input);
    const basis = [{ quantity: 1 }, { unit_price: 0 }, { unit_price: 0 }];
    expect(await of([find, cut])).toMatchObject({ amount: 0.02, known: true, basis });
    expect(await of([find])).toMatchObject({
      amount: null,
      known: false,
      basis: [{ unit_price: 0.02 }, { unit_price: null }, { unit_price: null }],
    });
  });

  it("counts the unit of its offer, and names it", async () => {
    const videoOffer = offer("video-default", 0.05, {
      task: "video.generate",
      price: flatPrice(0.05, "second"),
      limits: { durations: [5, 10] },
    });
    const of = (offers: Offer[], operation: string, input: Record<string, unknown>) =>
      estimateOperation({ providers: { enabled: [fakeProvider("v", offers)] } }, operation, input);
    expect(await of([videoOffer], "generateVideo", { image_url: "https://example.com/a.png" })).toMatchObject({
      amount: 0.25,
      basis: [{ what: "video.generate video-default, per second of video", quantity: 5, unit_price: 0.05 }],
    });
    const pixels = offer("flux-dev", 0.02, { price: flatPrice(0.02, "megapixel") });
    expect(
      await of([pixels], "images.generate", { prompt: "x", width: 2000, height: 1000, batch_size: 2 }),
    ).toMatchObject({
      amount: 0.08,
      basis: [{ what: "image.generate flux-dev, per megapixel", quantity: 4 }],
    });
    const call = offer("enhance-default", 0.001, { task: "prompt.enhance", price: flatPrice(0.001, "call") });
    expect(await of([call], "prompts.enhance", { prompt: "x" })).toMatchObject({
      amount: 0.001,
      basis: [{ what: "prompt.enhance enhance-default, per call", quantity: 1 }],
    });
  });

  it("is that of the cheapest offer if the cheapest is requested", async () => {
    const alike = { equivalence: "flux" };
    const offers = [
      offer("flux-dev", 0.3, { ...alike, upstreamModel: "dear" }),
      offer("flux-dev", 0.1, { ...alike, upstreamModel: "cheap" }),
    ];
    const amountOf = async (input: Record<string, unknown>) => {
      const services = { providers: { enabled: [fakeProvider("v", offers)] } };
      return (await estimateOperation(services, "images.generate", { prompt: "x", ...input })).amount;
    };
    expect([await amountOf({}), await amountOf({ routing: "cheapest" })]).toEqual([0.3, 0.1]);
  });

  it("is unknown if its quantity is known only at the end", async () => {
    const timed = {
      providers: { enabled: [fakeProvider("v", [offer("flux-dev", 0.001, { price: flatPrice(0.001, "second") })])] },
    };
    expect(await estimateOperation(timed, "images.generate", { prompt: "x" })).toMatchObject({
      ...{ amount: null, known: false },
      basis: [{ quantity: 1, unit_price: null, price_version: null }],
    });
  });

  it("is the same under an alias", async () => {
    const input = { image_url: "https://example.com/a.png", prompt: "the lamp" };
    expect(await estimate("images.generativeRemove", input)).toEqual(await estimate("images.genRemove", input));
  });

  it("of zero is known and names its source", async () => {
    const { amount, known, basis } = await estimate("images.generate", { prompt: "x", model_type: "vendora" });
    expect({ amount, known, version: basis[0]?.price_version }).toEqual({ amount: 0, known: true, version: "7" });
  });

  it.each([
    ["whose offer has no price", "nanobanana", "image.generate nanobanana, per image"],
    ["of a model that nobody offers", "vendorc", "image.generate vendorc"],
  ])("%s is unknown, never 0", async (_, model_type, what) => {
    expect(await estimate("images.generate", { prompt: "x", model_type })).toEqual({
      ...{ currency: "USD", amount: null, known: false, at_most: false },
      basis: [{ what, quantity: 1, unit_price: null, price_version: null }],
    });
  });
});

describe("400", async () => {
  it("reports every error of the inner input by its path in the outer one", async () => {
    const fault = await refusalOf(() => estimateOperation(services, "images.generate", { width: 63, colour: "red" }));
    expect(fault.code).toBe("validation_error");
    expect(
      (fault.details.errors as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`),
    ).toEqual(
      expect.arrayContaining(["/input/prompt required", "/input/width out_of_range", "/input/colour unknown_field"]),
    );
  });

  it("is a validation_error also where the operation would return unsupported_parameter", async () => {
    const size = { width: 64, height: 64, model_id: "01990c3e-2f00-7000-8000-6f0c1a2b3c4d" };
    const input = { prompt: "x", model_type: "wan-image-2.1", ...size, batch_size: 3 };
    const fault = await refusalOf(() => estimateOperation(services, "images.generate", input));
    expect(fault.code).toBe("validation_error");
    expect(fault.details.errors).toMatchObject([{ path: "/input/batch_size", code: "unknown_value" }]);
  });

  it.each(["images.conjure", "runs.get", "constructor", ""])("refuses %j, which has no price", async (operation) => {
    const fault = await refusalOf(() => estimateOperation(services, operation, {}));
    expect(fault.code).toBe("validation_error");
    expect(fault.details.errors).toMatchObject([{ path: "/operation", code: "unknown_value" }]);
  });
});
