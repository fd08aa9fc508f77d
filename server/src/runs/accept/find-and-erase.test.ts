// The two routes of a removal by prompt, with offers that are written down here.
import { describe, expect, it } from "vitest";
import type { Job } from "../../contract/operation.ts";
import { flatPrice } from "../../prices/price.ts";
import { bfl } from "../../providers/bfl.ts";
import { fal } from "../../providers/fal.ts";
import { localModels } from "../../providers/local/models.ts";
import { local } from "../../providers/local.ts";
import { openai } from "../../providers/openai.ts";
import { honourAll } from "../../providers/parameter-support.ts";
import type { Offer, Provider } from "../../providers/provider.ts";
import { findBestOffer } from "../offers/select-offer.ts";
import { estimateJobs } from "./estimate.ts";
import { expandPlan } from "./expand-plan.ts";

const offer = (task: Offer["task"], model: string, price: number | null, more: Partial<Offer> = {}): Offer => ({
  ...{
    task,
    model,
    upstreamModel: `${model} ${price}`,
    recovery: "none",
    price: price === null ? null : flatPrice(price),
    parameters: honourAll(task),
  },
  ...more,
});
const removing = (price: number | null) =>
  offer("image.remove", "remove-default", price, { supports: ({ mask }) => mask === undefined });
const erasing = (price: number | null) =>
  offer("image.remove", "remove-default", price, { supports: ({ mask }) => mask !== undefined });
const finding = (price: number | null) => offer("image.segment", "segment-default", price);
const blending = offer("image.blend", "local", 0);

const withProviders = (...providers: Pick<Provider, "id" | "offers">[]) => ({
  providers: { enabled: providers.map((provider) => ({ provider: provider as Provider, env: {} })) },
});
const withOffers = (...offers: Offer[]) => withProviders({ id: "p", offers: [...offers, blending] });

const source = { url: "https://example.com/a.png" };
const job = (more: Partial<Job> = {}): Job => ({
  ...{ task: "image.remove", model: "remove-default", prompt: "the car", images: [source] },
  ...{ options: { remove_shadow: false, multiple: false } },
  ...more,
});
const tasksOf = (services: Parameters<typeof expandPlan>[0], asked = job()) =>
  expandPlan(services, [asked]).plan.map(({ task }) => task);
const TWO_JOBS = ["image.segment", "image.remove", "image.blend"];

describe("a removal by prompt", () => {
  it("is one job if an offer finds and removes, and nothing else can", () => {
    expect(expandPlan(withOffers(removing(null)), [job()])).toEqual({ plan: [job()], adjustments: [] });
    expect(tasksOf(withOffers(removing(1), erasing(0)))).toEqual(["image.remove"]);
  });

  it("finds the object, erases it by its mask and keeps all other pixels, if only erasers are enabled", () => {
    const size = { source_size: { width: 640, height: 480 } };
    expect(expandPlan(withOffers(finding(null), erasing(null)), [job({ ...size, routing: "cheapest" })])).toEqual({
      adjustments: [],
      plan: [
        {
          ...{ task: "image.segment", model: "segment-default", prompt: "the car", images: [source], ...size },
          ...{ routing: "cheapest", count: 1, options: { multiple: false } },
        },
        {
          ...{
            task: "image.remove",
            model: "remove-default",
            images: [source],
            mask: { job: 0, every: true },
            ...size,
          },
          ...{ routing: "cheapest" },
        },
        {
          ...{ task: "image.blend", model: "local", images: [source, { job: 1, every: true }], ...size },
          ...{ mask: { job: 0, every: true }, routing: "cheapest" },
        },
      ],
    });
  });

  it.each([bfl, openai, localModels])("is served by an eraser, with any segmentation: $id", ({ id, offers }) => {
    const services = withProviders({ id, offers }, { id: "finder", offers: [finding(0.01)] }, local);
    const { plan } = expandPlan(services, [job()]);
    expect(plan.map(({ task }) => task)).toEqual(TWO_JOBS);
    expect(findBestOffer(services, plan[1]!)!.enabledProvider.provider.id).toBe(id);
  });

  it("is served by an eraser of fal if the offer of fal for prompts has no known price and that of the eraser is known", () => {
    const eraser = fal.offers.filter(({ upstreamModel }) => upstreamModel === "fal-ai/bria/eraser");
    const direct = fal.offers
      .filter(({ upstreamModel }) => upstreamModel === "fal-ai/object-removal")
      .map((each) => ({ ...each, price: null }));
    const unpriced = eraser.map((each) => ({ ...each, price: null }));
    const services = (erasers: Offer[]) =>
      withProviders({ id: "fal", offers: [...direct, ...erasers, finding(0.01)] }, local);
    expect(tasksOf(services(eraser))).toEqual(TWO_JOBS);
    expect(tasksOf(services(unpriced))).toEqual(["image.remove"]);
  });

  it("takes the cheaper route, and one job if both cost the same", () => {
    expect(tasksOf(withOffers(removing(0.1), finding(0.01), erasing(0.02)))).toEqual(TWO_JOBS);
    expect(tasksOf(withOffers(removing(0.03), finding(0.01), erasing(0.02)))).toEqual(["image.remove"]);
    expect(tasksOf(withOffers(removing(null), finding(0.01), erasing(0.02)))).toEqual(TWO_JOBS);
    expect(tasksOf(withOffers(removing(null), finding(null), erasing(0.02)))).toEqual(["image.remove"]);
    expect(tasksOf(withOffers(removing(9), finding(0), erasing(0)), job({ routing: "fastest" }))).toEqual([
      "image.remove",
    ]);
  });

  it("finds all matches with multiple, and extends the area for a shadow", () => {
    const services = withOffers(finding(0), erasing(0));
    const options = { remove_shadow: true, multiple: true };
    const { plan, adjustments } = expandPlan(services, [job({ options })]);
    expect(plan[0]).toMatchObject({ count: undefined, options: { multiple: true } });
    expect(plan.slice(1)).toMatchObject([{ mask_margin: 0.03 }, { mask_margin: 0.03 }]);
    expect(adjustments).toMatchObject([{ field: "remove_shadow", given: true, used: "a margin of 3 %" }]);
    const { adjustments: ofDefaults } = expandPlan(services, [job({ options, defaulted: ["remove_shadow"] })]);
    expect(ofDefaults).toEqual([]);
  });

  it("changes no parameter with strict handling if an offer honours it", () => {
    const services = withOffers(removing(1), finding(0), erasing(0));
    const shadow = { options: { remove_shadow: true, multiple: false } };
    expect(tasksOf(services, job(shadow))).toEqual(TWO_JOBS);
    expect(tasksOf(services, job({ ...shadow, is_strict: true }))).toEqual(["image.remove"]);
  });

  it("has every job in the estimate", () => {
    expect(estimateJobs(withOffers(removing(0.1), finding(0.01), erasing(0.02)), [job()])).toMatchObject({
      amount: 0.03,
      basis: [
        { what: "image.segment segment-default, per image", unit_price: 0.01 },
        { what: "image.remove remove-default, per image", unit_price: 0.02 },
        { what: "image.blend local, per image", unit_price: 0 },
      ],
    });
  });

  it("with a mask stays as it is", () => {
    const masked = job({ mask: source });
    expect(expandPlan(withOffers(finding(0), erasing(0)), [masked]).plan).toEqual([masked]);
  });
});
