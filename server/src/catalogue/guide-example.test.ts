// The file that the guide shows is a file that works, with the providers that there are.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { providers } from "../providers/all.ts";
import { offerFromRow } from "../providers/offer-row.ts";
import { applyCatalogue } from "./apply-catalogue.ts";
import { parseCatalogue } from "./parse-catalogue.ts";

const GUIDE = new URL("../../../docs/guide/catalogue.md", import.meta.url);
const example = /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(GUIDE, "utf8"))![1]!;

it("is valid, and has the effects that its comments describe", () => {
  const { file, problems, formatProblems: tell } = parseCatalogue(example, "gesso.yaml");
  const applied = applyCatalogue(providers, file, "2026-11-15", offerFromRow);
  expect(tell([...problems, ...applied.problems])).toEqual([]);

  const named = (id: string) => applied.providers.find((provider) => provider.id === id);
  expect(named("sandbox")).toBeUndefined();
  expect(named("fal")!.rateLimit).toEqual({ concurrent: 8, perMinute: 120 });
  const flux = applied.providers
    .flatMap(({ id, offers }) => offers.map((offer) => ({ id, ...offer })))
    .filter(({ task, model }) => task === "image.generate" && model === "flux-dev")
    .filter(({ lifecycle }) => lifecycle?.state !== "retired")
    .sort((a, b) => a.preference! - b.preference!);
  expect(flux.slice(0, 2)).toMatchObject([
    { id: "bfl" },
    { id: "fal", price: { rows: [{ of: "megapixel", usd: 0.02 }] } },
  ]);
  expect(flux.map(({ upstreamModel }) => upstreamModel)).not.toContain("fal-ai/flux-lora");
  expect(named("openai")!.offers.filter(({ upstreamModel }) => upstreamModel === "gpt-image-2.6-flare")).toHaveLength(
    2,
  );
  expect(named("replicate")!.offers.find(({ model }) => model === "seedream-5")).toMatchObject({ price: null });
  expect(named("runway")!.offers.find(({ upstreamModel }) => upstreamModel === "gen4_turbo")).toMatchObject({
    ...{ on_unknown: "resubmit", limits: { durations: [5, 10], prompt: undefined } },
  });
});

it("contains every field of an entry", () => {
  const guide = readFileSync(GUIDE, "utf8");
  const ofRows = ["fields", "constants", "needs", "without", "least_images"];
  const words = ["provider", "task", "offer", "like", "enabled", "as", "price", "per", "price_version", "limits"];
  for (const word of [...words, ...ofRows, "lifecycle", "equivalence", "on_unknown"])
    expect(guide).toContain(`\`${word}\``);
});
