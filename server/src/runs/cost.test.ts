// What a run costs by the prices at its acceptance, whatever the catalogue says when it ends.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Job } from "../kit/operation.ts";
import { honourAll } from "../providers/parameter-support.ts";
import { defineProvider, type Offer } from "../providers/provider.ts";
import { calculateRunCost, checkMaxCost, estimateAttemptCost, listAcceptedPrices, toMicrodollars } from "./cost.ts";
import { resolveOffer, selectOffer } from "./select-offer.ts";

const fakeProvider = (id: string, offers: Offer[]) => ({
  env: {},
  provider: defineProvider({
    ...{ id, offers, env: z.object({}), resultOrigins: () => [] },
    submit: () => Promise.reject(new Error("a price sends nothing")),
    poll: () => Promise.reject(new Error("a price asks nothing")),
  }),
});
const offer = (more: Partial<Offer> = {}): Offer => ({
  ...{
    task: "image.generate",
    model: "flux-dev",
    upstreamModel: "flux",
    recovery: "none",
    price: 0.1,
    per: "megapixel",
    parameters: { ...honourAll("image.generate"), ...honourAll("video.generate") },
  },
  ...more,
});
const services = (...offers: Offer[]) => ({ providers: { enabled: [fakeProvider("v", offers)] } });
const job = (more: Partial<Job> = {}): Job => ({ task: "image.generate", model: "flux-dev", ...more });
const large = { width: 2000, height: 1000 };
const selected = { provider: "v", upstreamModel: "flux" };

/** The job as it is kept with the run, accepted when the catalogue was so. */
const accepted = (then: ReturnType<typeof services>, asked: Job): Job => ({
  ...asked,
  prices: listAcceptedPrices(then, asked, resolveOffer(then, selectOffer(then, asked), asked)),
});

describe("the cost of a run", () => {
  const cut = offer({ task: "image.cut", model: "local", upstreamModel: "local", price: 0, per: "image" });
  const made = { job: job(), offer: selected, files: [large] };

  it("is the sum of the results of its jobs, each at the price of the offer that produced it, in micro-dollars", () => {
    const both = { providers: { enabled: [fakeProvider("v", [offer()]), fakeProvider("local", [cut])] } };
    const finished = {
      job: job({ task: "image.cut", model: "local" }),
      offer: { provider: "local", upstreamModel: "local" },
    };
    expect(calculateRunCost(both, [made, { ...finished, files: [large] }])).toBe(200_000);
  });

  it("uses the price at acceptance, whatever it is now", () => {
    const kept = accepted(services(offer()), job());
    for (const now of [
      services(offer({ price: 99, per: "image" })),
      services(offer({ price: null })),
      { providers: { enabled: [] } },
    ]) {
      expect(calculateRunCost(now, [{ ...made, job: kept }])).toBe(200_000);
      expect(estimateAttemptCost(now, kept, selected)).toBe(100_000);
    }
  });

  it("uses the price at acceptance of the failover offer, or else of the offer selected first", () => {
    const other = offer({ upstreamModel: "other", price: 0.3, per: "image", preference: 99 });
    const kept = accepted(services(offer(), other), job());
    const at = (upstreamModel: string) =>
      calculateRunCost(services(offer()), [{ ...made, job: kept, offer: { provider: "v", upstreamModel } }]);
    expect([at("other"), at("new")]).toEqual([300_000, 200_000]);
  });

  it("counts calls by the number of results per call at acceptance", () => {
    const perCall = (count: number) => offer({ per: "call", limits: { count } });
    const kept = accepted(services(perCall(2)), job({ count: 4 }));
    const files = [large, large, large, large];
    expect(calculateRunCost(services(perCall(4)), [{ job: kept, offer: selected, files }])).toBe(200_000);
  });

  it("uses the current price for a run without a stored one, and is unknown without any", () => {
    expect(calculateRunCost(services(offer()), [made])).toBe(200_000);
    expect(calculateRunCost({ providers: { enabled: [] } }, [made])).toBeNull();
    expect(
      calculateRunCost(services(offer()), [{ ...made, offer: { provider: "v", upstreamModel: "gone" } }]),
    ).toBeNull();
  });

  it("stays unknown if it was unknown at acceptance", () => {
    const kept = accepted(services(offer({ price: null })), job());
    expect(calculateRunCost(services(offer()), [{ ...made, job: kept }])).toBeNull();
  });
});

it("an amount is rounded to micro-dollars", () => {
  expect([toMicrodollars(0.1 + 0.2), toMicrodollars(1e-7), toMicrodollars(null), toMicrodollars(1e9)]).toEqual([
    300_000,
    0,
    null,
    1e15,
  ]);
});

it("max_cost refuses a higher price and an unknown price", () => {
  expect(() => checkMaxCost(0.3, 0.3)).not.toThrow();
  expect(() => checkMaxCost(null, undefined)).not.toThrow();
  expect(() => checkMaxCost(0.31, 0.3)).toThrow(
    expect.objectContaining({ code: "spend_limit_reached", details: expect.objectContaining({ reason: "max_cost" }) }),
  );
  expect(() => checkMaxCost(null, 0.3)).toThrow(
    expect.objectContaining({ code: "spend_limit_reached", details: { reason: "price_unknown" } }),
  );
});
