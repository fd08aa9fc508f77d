// The operator's file over providers that are written down here: what is offered in the end, and in which order.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { FREE, flatPrice } from "../prices/price.ts";
import { offerFromRow } from "../providers/offer-row.ts";
import { defineProvider, type Offer, type Provider } from "../providers/provider.ts";
import { applyCatalogue } from "./apply-catalogue.ts";
import { parseCatalogue } from "./parse-catalogue.ts";

const TODAY = "2030-06-15";

const offer = (model: string, upstreamModel: string, more: Partial<Offer> = {}): Offer => ({
  ...{ task: "image.generate", model, upstreamModel, recovery: "none", price: flatPrice(0.04), parameters: {} },
  ...more,
});
const vendor = (id: string, offers: Offer[], more: Partial<Provider> = {}): Provider => ({
  ...defineProvider({
    ...{ id, offers, env: z.object({}), resultOrigins: () => [] },
    submit: () => Promise.reject(new Error("a catalogue sends nothing")),
    poll: () => Promise.reject(new Error("a catalogue asks nothing")),
  }),
  ...more,
});

const fal = vendor(
  "fal",
  [
    offer("flux-dev", "fal-ai/flux/dev", { equivalence: "flux", limits: { count: 4, sides: { most: 1536 } } }),
    offer("flux-dev", "fal-ai/flux-lora", { supports: (job) => job.options?.model_id !== undefined, preference: 40 }),
    offer("vendora", "fal-ai/gpt-image"),
    offer("vendora", "fal-ai/gpt-image/edit", { task: "image.edit" }),
  ],
  { rateLimit: { concurrent: 10, perMinute: 100 } },
);
const bfl = vendor("bfl", [
  offer("flux-dev", "flux-dev", { equivalence: "flux", price: { ...flatPrice(0.04), version: "3" } }),
]);
const openai = vendor("openai", [
  offer("vendora", "gpt-image-2", { price: flatPrice(0.04, "call") }),
  offer("vendora", "gpt-image-2", { task: "image.edit" }),
]);
const local = vendor("local", [offer("flux-dev", "built-in", { recovery: "free", price: FREE })], { preference: 10 });
const registry = [local, fal, bfl, openai];

function apply(text: string, providers = registry) {
  const { file, problems, formatProblems: tell } = parseCatalogue(text, "gesso.yaml");
  const applied = applyCatalogue(providers, file, TODAY, offerFromRow);
  expect(tell([...problems, ...applied.problems])).toEqual([]);
  return applied.providers;
}
const offersOf = (providers: Provider[], model: string, task = "image.generate") =>
  providers
    .flatMap((provider) =>
      provider.offers.map((each) => ({ provider: provider.id, place: placeOf(provider, each), each })),
    )
    .filter(({ each }) => each.model === model && each.task === task && each.lifecycle?.state !== "retired")
    .sort((a, b) => a.place - b.place)
    .map(({ provider, each }) => ({ ...each, provider }));
const placeOf = (provider: Provider, each: Offer) => each.preference ?? provider.preference ?? 50;
const namesOf = (...parameters: Parameters<typeof offersOf>) =>
  offersOf(...parameters).map(({ provider, upstreamModel }) => `${provider} ${upstreamModel}`);

describe("without a file", () => {
  it.each(["", "# nothing yet\n", "providers:\nmodels:\n", "models:\n  flux-dev:\n"])("%j changes nothing", (text) => {
    expect(apply(text)).toEqual(registry);
  });
});

describe("a provider", () => {
  it.each(["off", "false", "{ enabled: off }", "{ enabled: false }"])("is removed if the file says %s", (word) => {
    expect(apply(`providers:\n  fal: ${word}`).map(({ id }) => id)).toEqual(["local", "bfl", "openai"]);
  });

  it("stays if the file says on", () => {
    expect(apply("providers:\n  fal: on")).toEqual(registry);
  });

  it("keeps rate limits that the file does not name, and loses those that are null", () => {
    const paceOf = (text: string) => apply(`providers:\n  fal: ${text}`).find(({ id }) => id === "fal")!.rateLimit;
    expect(paceOf("{ concurrent: 2 }")).toEqual({ concurrent: 2, perMinute: 100 });
    expect(paceOf("{ per_minute: null }")).toEqual({ concurrent: 10 });
    expect(paceOf("{ concurrent: 3, per_minute: 7 }")).toEqual({ concurrent: 3, perMinute: 7 });
  });

  it("ranks all its offers by its preference", () => {
    expect(namesOf(apply("providers:\n  fal: { preference: 60 }"), "flux-dev")).toEqual([
      ...["local built-in", "bfl flux-dev", "fal fal-ai/flux/dev", "fal fal-ai/flux-lora"],
    ]);
  });
});

describe("the entries of a model", () => {
  it("are the order in which its offers are selected; offers without an entry follow in their earlier order", () => {
    expect(namesOf(apply("models:\n  flux-dev: [bfl, fal]"), "flux-dev")).toEqual([
      ...["bfl flux-dev", "fal fal-ai/flux-lora", "fal fal-ai/flux/dev", "local built-in"],
    ]);
    expect(namesOf(apply("models:\n  flux-dev: [bfl]"), "flux-dev")).toEqual([
      ...["bfl flux-dev", "local built-in", "fal fal-ai/flux-lora", "fal fal-ai/flux/dev"],
    ]);
  });

  it("apply to every task of the model, or to the one that an entry names", () => {
    const both = apply("models:\n  vendora: [openai, fal]");
    expect(namesOf(both, "vendora")).toEqual(["openai gpt-image-2", "fal fal-ai/gpt-image"]);
    expect(namesOf(both, "vendora", "image.edit")).toEqual(["openai gpt-image-2", "fal fal-ai/gpt-image/edit"]);
    const one = apply("models:\n  vendora:\n    - { provider: openai, task: image.edit }");
    expect(namesOf(one, "vendora")).toEqual(["fal fal-ai/gpt-image", "openai gpt-image-2"]);
    expect(namesOf(one, "vendora", "image.edit")).toEqual(["openai gpt-image-2", "fal fal-ai/gpt-image/edit"]);
  });

  it("disable single offers", () => {
    const text = "models:\n  flux-dev:\n    - { provider: fal, offer: fal-ai/flux-lora, enabled: off }\n    - bfl";
    expect(namesOf(apply(text), "flux-dev")).toEqual(["bfl flux-dev", "local built-in", "fal fal-ai/flux/dev"]);
  });

  it("keep changed and disabled offers available to runs that selected them before", () => {
    const text =
      "models:\n  flux-dev:\n    - { provider: fal, offer: fal-ai/flux-lora, enabled: off }\n    - { provider: bfl, as: new }";
    const found = apply(text).flatMap(({ offers }) => offers.filter(({ lifecycle }) => lifecycle?.state === "retired"));
    expect(found.map(({ upstreamModel }) => upstreamModel)).toEqual(["fal-ai/flux-lora", "flux-dev"]);
    expect(found.every(({ isRemoved }) => isRemoved)).toBe(true);
  });

  it("leave every other model unchanged", () => {
    const openaiThen = apply("models:\n  flux-dev: [bfl]").find(({ id }) => id === "openai");
    expect(openaiThen).toEqual(openai);
  });
});

describe("an entry", () => {
  const first = (settings: string, model = "flux-dev") =>
    offersOf(apply(`models:\n  ${model}:\n    - { ${settings} }`), model)[0]!;

  it("sets a price, with the operator as its source", () => {
    expect(first("provider: bfl, price: 0.5, per: megapixel")).toMatchObject({
      ...{
        upstreamModel: "flux-dev",
        price: { ...flatPrice(0.5, "megapixel"), version: "operator" },
        equivalence: "flux",
      },
    });
    expect(first("provider: bfl, price: 0.5, price_version: spring")).toMatchObject({ price: { version: "spring" } });
    expect(first("provider: bfl, price: unknown").price).toBeNull();
    expect(first("provider: bfl, price: 0").price).toMatchObject({ rows: [{ of: "image", usd: 0 }] });
  });

  it("sets another upstream model, without the price and retirement of the old one", () => {
    const old = offer("flux-dev", "old", { lifecycle: { state: "retired", since: "2029-01-01" }, equivalence: "flux" });
    const [bound] = offersOf(
      apply("models:\n  flux-dev: [{ provider: v, as: new }]", [vendor("v", [old])]),
      "flux-dev",
    );
    expect(bound).toMatchObject({ upstreamModel: "new", price: null, equivalence: "flux", recovery: "none" });
    expect(bound!.lifecycle).toBeUndefined();
    expect(first("provider: bfl, as: flux-2, price: 0.1")).toMatchObject({
      upstreamModel: "flux-2",
      price: { rows: [{ of: "image", usd: 0.1 }] },
    });
  });

  it("sets one upstream model for all tasks if they share one", () => {
    const rebound = apply("models:\n  vendora: [{ provider: openai, as: gpt-image-3 }]");
    expect(namesOf(rebound, "vendora")[0]).toBe("openai gpt-image-3");
    expect(namesOf(rebound, "vendora", "image.edit")[0]).toBe("openai gpt-image-3");
  });

  it("changes the limits that it names and removes those that are null", () => {
    const limits =
      "{ count: null, ratios: ['1:1'], sides: { least: 64, most_pixels: 1000000, most_ratio: 2.5 }, mask: off }";
    expect(first(`provider: fal, offer: fal-ai/flux/dev, limits: ${limits}`).limits).toEqual({
      ...{
        count: undefined,
        ratios: ["1:1"],
        sides: { least: 64, mostPixels: 1_000_000, mostRatio: 2.5 },
        mask: false,
      },
    });
    expect(
      first("provider: fal, offer: fal-ai/flux/dev, limits: { source: { most_pixels: 9, most_masked_pixels: 8 } }")
        .limits,
    ).toMatchObject({ source: { mostPixels: 9, mostMaskedPixels: 8 } });
    expect(first("provider: fal, offer: fal-ai/flux/dev, limits: { prompt: 500 }").limits).toEqual({
      ...{ count: 4, sides: { most: 1536 }, prompt: 500 },
    });
  });

  it("sets the reaction to an unknown outcome, and the failover group", () => {
    expect(first("provider: bfl, on_unknown: resubmit").on_unknown).toBe("resubmit");
    expect(first("provider: bfl, equivalence: mine").equivalence).toBe("mine");
    expect(first("provider: bfl, equivalence: null").equivalence).toBeUndefined();
  });
});

describe("like", () => {
  it("adds an offer that works like another one and belongs to no failover group", () => {
    const bound = apply("models:\n  vendorc: [{ provider: fal, like: fal-ai/flux/dev, as: fal-ai/new, price: 0.02 }]");
    expect(offersOf(bound, "vendorc")).toMatchObject([
      {
        provider: "fal",
        upstreamModel: "fal-ai/new",
        price: { rows: [{ usd: 0.02 }] },
        recovery: "none",
        limits: { count: 4 },
      },
    ]);
    expect(offersOf(bound, "vendorc")[0]!.equivalence).toBeUndefined();
    expect(offersOf(bound, "flux-dev")).toEqual(offersOf(registry, "flux-dev"));
  });

  it("adds every task of the other one that requests can name a model for", () => {
    const bound = apply("models:\n  vendorc: [{ provider: openai, like: vendora, as: gpt-image-2 }]");
    expect(offersOf(bound, "vendorc")).toMatchObject([
      { upstreamModel: "gpt-image-2", price: flatPrice(0.04, "call") },
    ]);
    expect(offersOf(bound, "vendorc", "image.edit")).toMatchObject([{ upstreamModel: "gpt-image-2" }]);
  });

  it("adds a name of the operator's own", () => {
    const bound = apply("models:\n  seedream-5: [{ provider: fal, like: fal-ai/flux/dev, as: fal-ai/seedream/v5 }]");
    expect(namesOf(bound, "seedream-5")).toEqual(["fal fal-ai/seedream/v5"]);
  });

  it("takes offers that differ only in a name of the API for one, so that a provider's own name is clear", () => {
    const edit = { task: "image.edit" } as const;
    const several = vendor("v", [offer("vendora", "gpt", edit), offer("edit-default", "gpt", edit)]);
    const bound = apply("models:\n  vendorc: [{ provider: v, like: gpt, as: new }]", [several]);
    expect(namesOf(bound, "vendorc", "image.edit")).toEqual(["v new"]);
  });

  it("works like the other one: the adapter gets the model name that it knows", async () => {
    const heard: string[] = [];
    const adapter = vendor("v", [offer("flux-dev", "flux"), offer("vendora", "gpt")], {
      async submit(job, { model, upstreamModel }) {
        heard.push(`${job.model} ${model} ${upstreamModel}`);
        return { state: "done", outputs: [] };
      },
    });
    const [v] = apply("models:\n  vendorc: [{ provider: v, like: flux-dev, as: new }]", [adapter]);
    for (const each of v!.offers) await v!.submit({ task: each.task, model: each.model }, each, {} as never);
    expect(heard.sort()).toEqual(["flux-dev flux-dev flux", "flux-dev flux-dev new", "vendora vendora gpt"]);
  });

  it("follows the order of the entries", () => {
    const text = "models:\n  flux-dev:\n    - { provider: openai, like: vendora, as: gpt-image-2 }\n    - bfl";
    expect(namesOf(apply(text), "flux-dev").slice(0, 2)).toEqual(["openai gpt-image-2", "bfl flux-dev"]);
  });
});

describe("lifecycle", () => {
  const names = (lifecycle: Offer["lifecycle"]) =>
    namesOf(apply("", [vendor("v", [offer("flux-dev", "x", { lifecycle })])]), "flux-dev");

  it("removes retired offers from their day on", () => {
    expect(names({ state: "retired" })).toEqual([]);
    expect(names({ state: "retired", since: "2030-06-15" })).toEqual([]);
    expect(names({ state: "retired", since: "2030-06-16" })).toEqual(["v x"]);
    expect(names({ state: "deprecated", since: "2020-01-01" })).toEqual(["v x"]);
  });

  it("is shown as of today: retired later is deprecated now, deprecated later is active now", () => {
    const stateOf = (lifecycle: Offer["lifecycle"]) =>
      offersOf(apply("", [vendor("v", [offer("flux-dev", "x", { lifecycle })])]), "flux-dev")[0]!.lifecycle!.state;
    expect(stateOf({ state: "retired", since: "2031-01-01" })).toBe("deprecated");
    expect(stateOf({ state: "deprecated", since: "2031-01-01" })).toBe("active");
    expect(stateOf({ state: "deprecated" })).toBe("deprecated");
  });

  it("can be set by the operator in both directions", () => {
    const end = (word: string) => `models:\n  flux-dev: [{ provider: bfl, lifecycle: ${word} }]`;
    expect(namesOf(apply(end("retired")), "flux-dev")).not.toContain("bfl flux-dev");
    expect(namesOf(apply(end("{ state: retired, since: 2030-06-16 }")), "flux-dev")).toContain("bfl flux-dev");
    const { offers } = apply(end("{ state: retired, since: 2030-06-01 }")).find(({ id }) => id === "bfl")!;
    const retired = offers.find(({ upstreamModel }) => upstreamModel === "flux-dev")!;
    expect([retired.lifecycle, retired.isRemoved]).toEqual([{ state: "retired", since: "2030-06-01" }, undefined]);
    const dead = vendor("bfl", [offer("flux-dev", "flux-dev", { lifecycle: { state: "retired" } })]);
    expect(namesOf(apply(end("active"), [dead]), "flux-dev")).toEqual(["bfl flux-dev"]);
  });
});
