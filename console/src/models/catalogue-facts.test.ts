import type { CatalogueOffer, ModelCatalogue } from "@gesso/client";
import { describe, expect, it } from "vitest";
import { formatPrice, formatUnit } from "../parts/offer-words.ts";
import {
  describeModel,
  describeTrouble,
  listGroups,
  listProviders,
  listTroubles,
  providersInOrder,
  selectModels,
} from "./catalogue-facts.ts";
import { describeOfferLimits } from "./describe-limits.ts";
import { listParameters } from "./offer-parameters.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const offer = (changes: Partial<CatalogueOffer> = {}): CatalogueOffer => ({
  ...{ task: "image.generate", provider: "fal", upstream: "fal-ai/flux", name: "fal:fal-ai/flux" },
  ...{ model_name: null, model_id: null, preferred: false, price: 0.03, per: "image" },
  ...{ at_most: false, price_table: null },
  ...{ latency: "quick", equivalence: null, limits: {}, parameters: [], open_until: null },
  lifecycle: { state: "active", since: null, successor: null },
  ...changes,
});
const catalogue = (models: Record<string, CatalogueOffer[]>): ModelCatalogue => ({
  models: Object.entries(models).map(([model, offers]) => ({
    ...{ model, description: null, display_name: null, vendor: null, stands_for: null, offers },
  })),
  tasks: [],
});

describe("the catalogue", () => {
  const all = catalogue({
    dear: [offer({ price: 0.2, preferred: true }), offer({ provider: "bfl", task: "image.edit" })],
    unknown: [offer({ price: null, preferred: true })],
    cheap: [offer({ price: 0.01, provider: "local", task: "image.segment", preferred: true })],
  });

  it("has the kinds of work that a model does, and its providers", () => {
    expect(listGroups(all)).toEqual(["generate", "edit", "cutOut"]);
    expect(listProviders(all)).toEqual(["fal", "bfl", "local"]);
    expect(selectModels(all, "edit", false).map(({ model }) => model)).toEqual(["dear"]);
  });

  it("is sorted by the price of the preferred offer, unknown prices last", () => {
    expect(selectModels(all, "all", true).map(({ model }) => model)).toEqual(["cheap", "dear", "unknown"]);
    expect(selectModels(all, "all", false).map(({ model }) => model)).toEqual(["dear", "unknown", "cheap"]);
  });

  it("names the providers of a model in their order, without retired offers", () => {
    const retired = { state: "retired" as const, since: null, successor: null };
    const offers = [
      offer({ preferred: true }),
      offer({ provider: "bfl" }),
      offer({ provider: "x", lifecycle: retired }),
    ];
    expect(providersInOrder(catalogue({ m: offers }).models[0]!)).toEqual(["fal", "bfl"]);
  });

  it("describes a model without words of its own by the operations that use it", () => {
    const tasks = [{ task: "image.segment", models: ["s"], operations: ["images.segment", "images.extract"] }];
    const { models } = catalogue({ s: [offer({ task: "image.segment" })] });
    expect(describeModel(models[0]!, tasks)).toBe("Used by images.segment, images.extract");
    expect(describeModel({ ...models[0]!, description: "Finds objects" }, tasks)).toBe("Finds objects");
    expect(describeModel(models[0]!, [])).toBe("");
  });

  it("has a unit only for prices that cost something", () => {
    const words = (price: number | null) => [
      formatPrice({ price, at_most: false }),
      formatUnit({ price, per: "megapixel" }),
    ];
    expect([0.025, 0, null].map(words)).toEqual([
      ["$0.025", "per megapixel"],
      ["free", ""],
      ["unknown", ""],
    ]);
  });
});

describe("the trouble of an offer", () => {
  const lifecycle = (state: string, since: string | null = null, successor: string | null = null) =>
    describeTrouble(offer({ lifecycle: { state, since, successor } }), NOW);

  it("is a pause until a time, or what its lifecycle says", () => {
    expect(describeTrouble(offer({ open_until: "2026-11-16T12:05:00Z" }), NOW)).toMatch(/^fal paused until \d\d:\d5$/);
    expect(describeTrouble(offer({ open_until: "2026-11-16T11:59:00Z" }), NOW)).toBe(undefined);
    expect(lifecycle("deprecated", "2026-12-01", "flux-2")).toBe("Retires 1 Dec · successor: flux-2");
    expect(lifecycle("deprecated", "2026-01-01")).toBe("Deprecated");
    expect(lifecycle("active", "2026-12-24")).toBe("Deprecated from 24 Dec");
    expect([lifecycle("retired"), lifecycle("active")]).toEqual(["Retired", undefined]);
  });

  it("is said once for each model", () => {
    const open_until = "2026-11-16T12:05:00Z";
    const [model] = catalogue({ m: [offer({ open_until }), offer({ open_until, task: "image.edit" })] }).models;
    expect(listTroubles(model!, NOW)).toHaveLength(1);
    const deprecated = { state: "deprecated" as const, since: null, successor: null };
    const offers = [offer({ preferred: true }), offer({ provider: "bfl", lifecycle: deprecated })];
    expect(listTroubles(catalogue({ m: offers }).models[0]!, NOW)).toEqual([]);
  });
});

it("says limits in words, and nothing without limits", () => {
  const sides = { least: 256, most: 2048, step: 32, most_pixels: 4_200_000 };
  expect(describeOfferLimits({ sides, count: 1, mask: false, prompt: 2000 })).toEqual([
    ...["sides 256 to 2,048 px", "in steps of 32 px", "at most 4.2 MP"],
    ...["1 result per request", "no mask", "prompts to 2,000 characters"],
  ]);
  expect(describeOfferLimits({ mask: true })).toEqual([]);
});

it("lists required parameters of the model first and ignored ones last", () => {
  const parameters = [
    { name: "prompt", state: "honoured" },
    { name: "seed", state: "unsupported" },
    { name: "guidance", state: "honoured" },
    { name: "width", state: "adapted", how: "32 to 64" },
    { name: "lora_low_name", state: "honoured" },
  ];
  const shown = listParameters("wan-image-2.1", offer({ parameters }));
  expect(shown.map(({ name, isRequired, state }) => [name, isRequired, state])).toEqual([
    ["width", true, "adapted"],
    ["guidance", false, "honoured"],
    ["seed", false, "unsupported"],
    // The model has no pair of LoRAs, so nothing is said about lora_low_name.
  ]);
  expect(listParameters("wan-image-2.1", offer({ parameters, task: "image.edit" }))[0]!.name).toBe("guidance");
});
