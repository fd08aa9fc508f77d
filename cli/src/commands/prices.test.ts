// The lines of `gesso prices`.
import type { ModelCatalogue } from "@gesso/client";
import { expect, it } from "vitest";
import { listPrices, renderPriceLines } from "./prices.ts";

const offer = (provider: string, upstream: string, price: number | null, more: object = {}) => ({
  ...{ provider, upstream, name: `${provider}:${upstream}`, price, per: "image", at_most: false },
  price_table:
    price === null ? null : { rows: [], most: null, as_of: "2026-11-18", source: "its page", confidence: "official" },
  ...more,
});
const catalogue = {
  models: [
    { model: "flux-dev", offers: [offer("fal", "fal-ai/flux/dev", 0.025), offer("local", "flux", null)] },
    {
      model: "also",
      offers: [
        offer("fal", "fal-ai/flux/dev", 0.025),
        offer("fal", "veo", 0.000_012_5, { per: "second", at_most: true }),
      ],
    },
  ],
} as unknown as ModelCatalogue;

it("an offer has one line, whatever models it belongs to, with its day, its source and who says so", () => {
  const said = { as_of: "2026-11-18", said_by: "official", source: "its page" };
  expect(listPrices(catalogue)).toEqual([
    { name: "fal:fal-ai/flux/dev", price: "$0.025 per image", ...said },
    { name: "fal:veo", price: "at most $0.000013 per second", ...said },
    { name: "local:flux", price: "unknown", as_of: null, said_by: null, source: null },
  ]);
  expect(listPrices(catalogue, "VEO").map(({ name }) => name)).toEqual(["fal:veo"]);
});

it("the prices of providers are lines for gesso.yaml, below every model that has the offer", () => {
  const others = [{ provider: "fal", as: "fal-ai/flux/dev", unit: "megapixel", here: 0.025, there: 0.03 }];
  const line =
    '    - { provider: fal, offer: "fal-ai/flux/dev", price: { rows: [{ of: megapixel, usd: 0.03 }], as_of: 2026-11-20, source: fal } }';
  expect(renderPriceLines(catalogue, others, "2026-11-20")).toEqual([
    "models:",
    '  "flux-dev":',
    line,
    '  "also":',
    line,
  ]);
  expect(renderPriceLines(catalogue, [], "2026-11-20")).toEqual(["# No provider states another price."]);
});
