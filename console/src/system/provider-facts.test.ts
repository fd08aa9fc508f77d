import { describe, expect, it } from "vitest";
import {
  countOffers,
  describeCheapest,
  describeState,
  groupPrices,
  listProviderEntries,
  type PricedOffer,
  type ReportedProvider,
  toneOf,
} from "./provider-facts.ts";

const reported = (changes: Partial<ReportedProvider>): ReportedProvider => ({
  ...{
    name: "fal",
    status: "pass",
    message: "The key works",
    fix: null,
    key: "works",
    known: 2,
    unasked: 0,
    prices: [],
  },
  ...{ missing: [], open_until: null },
  ...changes,
});
const off = { status: "skip", key: "off", message: "set FAL_KEY" } as const;
const refused = { status: "fail", key: "refused", message: "HTTP 401", fix: "check FAL_KEY" } as const;
const offer = (model: string, price: number | null, more: Partial<PricedOffer> = {}): PricedOffer => ({
  ...{ model, price, task: "image.generate", per: "image", at_most: false },
  ...more,
});

describe("the list of providers", () => {
  const entries = (takes_provider_keys: boolean) =>
    listProviderEntries({
      takes_provider_keys,
      providers: [
        reported({ ...off, name: "local-models" }),
        reported({ ...off, name: "replicate" }),
        reported({ name: "fal" }),
        reported({ ...refused, name: "openai" }),
        reported({ name: "sandbox", key: "none" }),
      ],
    }).map(({ reported: { name }, listed, action }) => [name, listed?.name, action]);

  it("has the connected ones first, and in gesso dev a way to connect each or to replace its key", () => {
    expect(entries(true)).toEqual([
      ["fal", "fal", "replace"],
      ["openai", "OpenAI", "replace"],
      ["sandbox", undefined, undefined],
      ["replicate", "Replicate", "connect"],
      ["local-models", undefined, undefined],
    ]);
  });

  it("shows on a server how to connect those that are off or fail, and nothing for those that work", () => {
    const actions = Object.fromEntries(entries(false).map(([name, , action]) => [name, action]));
    expect(actions).toEqual({
      ...{
        fal: undefined,
        openai: "how_replace",
        replicate: "how_connect",
        sandbox: undefined,
        "local-models": undefined,
      },
    });
  });
});

it("says whether a provider works, why it fails, or that it is not connected", () => {
  const [fal] = listProviderEntries({ takes_provider_keys: true, providers: [reported({})] });
  const say = (each: ReportedProvider) => describeState({ reported: each, listed: fal!.listed });
  expect([reported({}), reported(refused), reported(off)].map(say)).toEqual([
    ...["Healthy, The key works", "Failed: HTTP 401. Check FAL_KEY.", "Not connected"],
  ]);
  expect(say(reported({ status: "fail", missing: ["a", "b"] }))).toBe("Failed. Gone at the provider: a, b");
  expect(say(reported({ ...off, status: "fail", message: "settings incomplete", fix: "set X" }))).toBe(
    "Failed: settings incomplete. Set X.",
  );
  const local = reported({ ...off, name: "local-models", message: "not installed" });
  expect(describeState({ reported: local, listed: undefined })).toBe("Off: not installed");
  const paused = reported({ open_until: "2026-11-16T12:05:00Z" });
  expect([toneOf(paused), toneOf(reported(refused)), toneOf(reported(off))]).toEqual(["warn", "fail", "skip"]);
  expect(say(paused)).toMatch(/^No jobs until \d\d:05, after failures$/);
});

describe("what a provider unlocks", () => {
  it("is counted by models and kinds of work", () => {
    expect(countOffers([offer("a", 1), offer("a", 1, { task: "image.edit" }), offer("b", 1)])).toBe(
      "2 models for 2 kinds of work",
    );
    expect(countOffers([offer("a", 1)])).toBe("1 model for 1 kind of work");
  });

  it("costs at least the lowest price per image, or per another unit if none is per image", () => {
    const video = offer("v", 0.01, { per: "second" });
    expect(describeCheapest([video, offer("a", 0.08), offer("b", 0.03, { at_most: true })])).toBe(
      "from $0.03 per image",
    );
    expect(describeCheapest([video, offer("a", null)])).toBe("from $0.01 per second");
    expect(describeCheapest([offer("a", 0), offer("b", null)])).toBe("free");
    expect(describeCheapest([offer("a", null)])).toBe("prices not known");
  });

  it("is listed by the kind of work, with one row for the prices of a model in one unit", () => {
    const offers = [
      ...[offer("a", 0.1), offer("a", 0.08), offer("a", 0.09), offer("a", 0.01, { per: "second" })],
      ...[
        offer("b", null),
        offer("b", null),
        offer("c", 0.2, { at_most: true }),
        offer("a", 0, { task: "image.edit" }),
      ],
    ];
    expect(groupPrices(offers)).toEqual([
      {
        task: "image.generate",
        rows: [
          { model: "a", price: "$0.08 to $0.10 per image" },
          { model: "a", price: "$0.01 per second" },
          { model: "b", price: "unknown" },
          { model: "c", price: "at most $0.20 per image" },
        ],
      },
      { task: "image.edit", rows: [{ model: "a", price: "free" }] },
    ]);
  });
});
