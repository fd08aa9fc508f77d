import { describe, expect, it } from "vitest";
import { z } from "zod";
import { FREE, flatPrice } from "../../prices/price.ts";
import { honourAll } from "../../providers/parameter-support.ts";
import { defineProvider, type Offer } from "../../providers/provider.ts";
import { listFailoverOffers, resolveOffer, selectOffer } from "./select-offer.ts";

const offer = (upstreamModel: string, more: Partial<Offer> = {}): Offer => ({
  task: "image.generate",
  model: "flux-dev",
  upstreamModel,
  recovery: "none",
  price: null,
  parameters: honourAll("image.generate"),
  ...more,
});
const provider = (id: string, offers: Offer[], preference?: number) => ({
  env: {},
  provider: defineProvider({
    id,
    ...(preference !== undefined && { preference }),
    env: z.object({}),
    offers,
    resultOrigins: () => [],
    submit: () => Promise.reject(new Error("never asked")),
    poll: () => Promise.reject(new Error("never asked")),
  }),
});
const job = { task: "image.generate" as const, model: "flux-dev", prompt: "a tree" };

describe("the first offer", () => {
  it("has the lowest preference, an offer's own before its provider's", () => {
    const providers = [provider("a", [offer("x")], 30), provider("b", [offer("y", { preference: 10 })], 90)];
    expect(selectOffer({ providers: { enabled: providers } }, job)).toEqual({ provider: "b", upstreamModel: "y" });
  });

  it("is never retired, and deprecated only if there is no other", () => {
    const old = offer("old", { lifecycle: { state: "deprecated" } });
    const gone = offer("gone", { preference: 0, lifecycle: { state: "retired" } });
    expect(selectOffer({ providers: { enabled: [provider("a", [gone, old, offer("new")])] } }, job).upstreamModel).toBe(
      "new",
    );
    expect(selectOffer({ providers: { enabled: [provider("a", [gone, old])] } }, job).upstreamModel).toBe("old");
    expect(() => selectOffer({ providers: { enabled: [provider("a", [gone])] } }, job)).toThrow(
      expect.objectContaining({ code: "model_unavailable" }),
    );
  });

  it("can serve the request", () => {
    const short = offer("short", { preference: 1, limits: { prompt: 3 } });
    expect(selectOffer({ providers: { enabled: [provider("a", [short, offer("long")])] } }, job).upstreamModel).toBe(
      "long",
    );
  });
});

describe("an offer with a limit of its source", () => {
  const small = offer("small", { preference: 1, limits: { source: { mostPixels: 1_000_000 } } });
  const enabled = [provider("a", [small, offer("large", { preference: 2 })])];
  const select = (source_size?: { width: number; height: number }, offers = enabled) =>
    selectOffer({ providers: { enabled: offers } }, { ...job, source_size }).upstreamModel;

  it("is selected up to the limit, and if the size is not known yet", () => {
    expect([select({ width: 1000, height: 1000 }), select()]).toEqual(["small", "small"]);
    expect(select({ width: 1000, height: 1001 })).toBe("large");
  });

  it("is selected above the limit if there is no other, so that the run says why it fails", () => {
    expect(select({ width: 2000, height: 2000 }, [provider("a", [small])])).toBe("small");
  });
});

describe("on request", () => {
  const dear = offer("dear", { preference: 1, price: flatPrice(0.05), latency: "quick", equivalence: "flux" });
  const cheap = offer("cheap", { price: flatPrice(0.01, "megapixel"), latency: "slow", equivalence: "flux" });
  const secret = offer("secret", { latency: "usual", equivalence: "flux" });
  const other = offer("free", { preference: 99, price: FREE, latency: "quick" });
  const providers = [provider("a", [dear, cheap, secret, other])];

  it("is the cheapest offer of the failover group with a known price", () => {
    expect(selectOffer({ providers: { enabled: providers } }, { ...job, routing: "cheapest" }).upstreamModel).toBe(
      "cheap",
    );
    const large = { ...job, routing: "cheapest" as const, width: 4000, height: 4000 };
    expect(selectOffer({ providers: { enabled: providers } }, large).upstreamModel).toBe("dear");
  });

  it("is the fastest of the failover group", () => {
    expect(selectOffer({ providers: { enabled: providers } }, { ...job, routing: "fastest" }).upstreamModel).toBe(
      "dear",
    );
    expect(selectOffer({ providers: { enabled: providers } }, { ...job, routing: "preferred" }).upstreamModel).toBe(
      "dear",
    );
  });
});

describe("a failover offer", () => {
  const first = offer("first", { preference: 1, equivalence: "flux" });
  const second = offer("second", { preference: 2, equivalence: "flux", limits: { count: 1 } });
  const third = offer("third", { preference: 3, equivalence: "flux" });
  const alone = offer("alone", { preference: 4 });
  const services = { providers: { enabled: [provider("a", [first, alone]), provider("b", [second, third])] } };
  const failoverNames = (upstreamModel: string, asked = job) =>
    listFailoverOffers(
      services,
      { provider: upstreamModel === "alone" || upstreamModel === "first" ? "a" : "b", upstreamModel },
      asked,
    ).map(({ offer: { upstreamModel } }) => upstreamModel);

  it("is equivalent, in order, and never from outside the group", () => {
    expect(failoverNames("first")).toEqual(["second", "third"]);
    expect(failoverNames("third")).toEqual(["first", "second"]);
    expect(failoverNames("alone")).toEqual([]);
  });

  it("changes no parameter of a job with strict handling", () => {
    const { seed: _, ...seedless } = honourAll("image.generate");
    const changing = offer("changing", { preference: 2, equivalence: "flux", parameters: seedless });
    const enabled = [provider("a", [first]), provider("b", [changing, third])];
    const namesFor = (asked: typeof job) =>
      listFailoverOffers({ providers: { enabled } }, { provider: "a", upstreamModel: "first" }, asked).map(
        (each) => each.offer.upstreamModel,
      );
    const seeded = { ...job, seed: 7 };
    expect(namesFor(seeded)).toEqual(["changing", "third"]);
    expect(namesFor({ ...seeded, is_strict: true } as typeof seeded)).toEqual(["third"]);
  });

  it("is never one for which the request is too large", () => {
    expect(failoverNames("first", { ...job, count: 2 } as typeof job)).toEqual(["third"]);
  });
});

it("an offer that was disabled meanwhile is not found", () => {
  const providers = [provider("a", [offer("x")])];
  expect(
    resolveOffer({ providers: { enabled: providers } }, { provider: "a", upstreamModel: "x" }, job).offer.upstreamModel,
  ).toBe("x");
  expect(() => resolveOffer({ providers: { enabled: providers } }, { provider: "a", upstreamModel: "y" }, job)).toThrow(
    expect.objectContaining({ code: "model_unavailable" }),
  );
});
