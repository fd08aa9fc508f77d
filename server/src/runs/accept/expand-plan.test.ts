// Second jobs of a plan, with offers that are written down here.
import { describe, expect, it } from "vitest";
import type { Job } from "../../contract/operation.ts";
import { FREE, flatPrice } from "../../prices/price.ts";
import { declareParameters, honourAll } from "../../providers/parameter-support.ts";
import type { Offer, Provider } from "../../providers/provider.ts";
import { estimateJobs } from "./estimate.ts";
import { expandPlan } from "./expand-plan.ts";

const { upscale_factor: _, ...enlargesNothing } = honourAll("image.generate");
const offer = (task: Offer["task"], model: string, more: Partial<Offer> = {}): Offer => ({
  ...{ task, model, upstreamModel: `${model} upstream`, recovery: "none", price: flatPrice(0.1) },
  parameters: honourAll(task),
  ...more,
});
const generator = offer("image.generate", "flux-dev", { parameters: enlargesNothing });
const native = offer("image.generate", "flux-dev", { upstreamModel: "native", preference: 60 });
const upscaler = offer("image.upscale", "upscale-default", { price: flatPrice(0.02) });
const resizer = offer("image.resize", "local", { price: FREE, recovery: "free" });

const withOffers = (...offers: Offer[]) => ({
  providers: { enabled: [{ provider: { id: "p", offers } as unknown as Provider, env: {} }] },
});
const job = (more: Partial<Job> = {}): Job => ({
  ...{ task: "image.generate", model: "flux-dev", prompt: "x", count: 2, options: { steps: 9, upscale_factor: 2 } },
  ...more,
});
const bare = job({ options: { steps: 9 } });

describe("upscale_factor", () => {
  it("is left to an offer that enlarges by itself", () => {
    expect(expandPlan(withOffers({ ...native, preference: 1 }, generator, upscaler), [job()])).toEqual({
      plan: [job()],
      adjustments: [],
    });
  });

  it("becomes a second job for each result, if the preferred offer cannot enlarge", () => {
    const { plan, adjustments } = expandPlan(withOffers(generator, native, upscaler), [
      job({ routing: "fastest", is_strict: true }),
    ]);
    expect(adjustments).toEqual([]);
    expect(plan).toEqual([
      { ...bare, routing: "fastest", is_strict: true },
      {
        ...{ task: "image.upscale", model: "upscale-default", images: [{ job: 0, each: true }], request_count: 2 },
        ...{ options: { factor: 2 }, routing: "fastest", is_strict: true },
      },
    ]);
  });

  it("between two factors is made by the larger one, and then reduced", () => {
    const { plan } = expandPlan(withOffers(generator, upscaler, resizer), [
      job({ width: 800, height: 600, options: { upscale_factor: 3 } }),
    ]);
    expect(plan.slice(1)).toMatchObject([
      { task: "image.upscale", options: { factor: 4 }, source_size: { width: 800, height: 600 } },
      {
        ...{ task: "image.resize", model: "local", images: [{ job: 1, each: true }], request_count: 2 },
        ...{ options: { scale: 0.75 }, source_size: { width: 3200, height: 2400 } },
      },
    ]);
  });

  it("of 1 needs no second job", () => {
    expect(expandPlan(withOffers(generator, upscaler), [job({ options: { upscale_factor: 1 } })]).plan).toEqual([
      job({ options: undefined }),
    ]);
  });

  it("is done by another offer of the model, if no offer enlarges in a job of its own", () => {
    expect(expandPlan(withOffers(generator, native), [job()])).toEqual({ plan: [job()], adjustments: [] });
  });

  it("is ignored with a warning, if nothing can enlarge", () => {
    const { plan, adjustments } = expandPlan(withOffers(generator), [job()]);
    expect(plan).toEqual([bare]);
    expect(adjustments).toMatchObject([{ field: "upscale_factor", given: 2, used: undefined }]);
    expect(adjustments[0]!.message).toContain("2 was ignored");
  });

  it("is reduced with a warning, if a result would be too large to be stored", () => {
    const large = { width: 2048, height: 2048 };
    const services = withOffers(generator, upscaler, resizer);
    const { plan, adjustments } = expandPlan(services, [job({ ...large, options: { upscale_factor: 4 } })]);
    expect(plan.map(({ options }) => options?.factor)).toEqual([undefined, 2]);
    expect(adjustments).toMatchObject([{ field: "upscale_factor", given: 4, used: 2 }]);
    const unchanged = expandPlan(withOffers({ ...native, preference: 1 }), [
      job({ ...large, options: { upscale_factor: 3 } }),
    ]);
    expect(unchanged).toEqual({ plan: [job({ ...large, options: { upscale_factor: 3 } })], adjustments: [] });
  });

  it("has a price of its own in the estimate, for each result", () => {
    expect(estimateJobs(withOffers(generator, upscaler), [job()])).toMatchObject({
      amount: 0.24,
      basis: [
        { what: "image.generate flux-dev, per image", quantity: 2, unit_price: 0.1 },
        { what: "image.upscale upscale-default, per image", quantity: 2, unit_price: 0.02 },
      ],
    });
    const byPixels = { ...upscaler, price: flatPrice(0.02, "megapixel") };
    const sized = job({ width: 1000, height: 1000, count: 1 });
    expect(estimateJobs(withOffers(generator, byPixels), [sized]).basis[1]).toMatchObject({ quantity: 4 });
  });

  it("takes the cheaper of both ways with the routing cheapest, between equivalent offers", () => {
    const cheapest = job({ routing: "cheapest" });
    const jobsWith = (price: number, more: Partial<Offer> = {}) => {
      const same = { equivalence: "flux" };
      const offers = [{ ...generator, ...same }, { ...native, ...same, price: flatPrice(price), ...more }, upscaler];
      return expandPlan(withOffers(...offers), [cheapest]).plan.length;
    };
    // In two jobs, a result costs 0.12.
    expect([jobsWith(0.11), jobsWith(0.13), jobsWith(0.11, { equivalence: "other" })]).toEqual([1, 2, 2]);

    const byPixels = { ...native, price: flatPrice(0.03, "megapixel"), preference: 1 };
    const sized = { ...cheapest, width: 1000, height: 1000 };
    const jobsOf = (...offers: Offer[]) => expandPlan(withOffers(...offers), [sized]).plan.length;
    // Enlarged, an image has 4 megapixels: 0.12 instead of 0.03 and the second job.
    expect([
      jobsOf(byPixels),
      jobsOf(byPixels, upscaler),
      jobsOf(byPixels, { ...upscaler, price: flatPrice(0.1) }),
    ]).toEqual([1, 2, 1]);
  });

  it("is never sent to an offer that needs a second job for it, also not in failover", () => {
    const ignoring = offer("image.generate", "flux-dev", {
      parameters: declareParameters("image.generate", {
        honours: ["prompt", "count", "steps"],
        ignores: Object.keys(honourAll("image.generate")).filter(
          (name) => !["prompt", "count", "steps"].includes(name),
        ) as never,
      } as never),
    });
    expect(expandPlan(withOffers(ignoring, native, upscaler), [job()]).plan).toHaveLength(2);
    expect(expandPlan(withOffers(ignoring, native), [job()]).plan).toEqual([job()]);
  });
});
