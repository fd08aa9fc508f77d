import { describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { createFakeProvider, createTestProviders } from "../../test/support/step-fixtures.ts";
import { ModelCatalogue } from "../contract/schemas/catalogue.ts";
import { declareParameters, within } from "../providers/parameter-support.ts";
import type { Offer } from "../providers/provider.ts";
import { buildCatalogue } from "./offer-catalogue.ts";

const OWNER = { role: "owner" as const, scopes: ["*"] };
const clock = createManualClock(Date.UTC(2026, 10, 16));

/** The catalogue of an installation with one offer for each entry. */
function setUp(offers: Record<string, Partial<Offer>>, caller: Parameters<typeof buildCatalogue>[1] = OWNER) {
  const providers = createTestProviders(Object.entries(offers).map(([id, offer]) => createFakeProvider(id, offer)));
  const read = () => ModelCatalogue.parse(buildCatalogue({ providers, clock }, caller));
  return { providers, read };
}

describe("the catalogue", () => {
  it("lists models with their offers, the preferred one first, and no model without an offer", () => {
    const { models } = setUp({ fal: { preference: 2 }, bfl: { preference: 1 } }).read();
    expect(models.map(({ model }) => model)).toEqual(["flux-dev"]);
    expect(models[0]!.description).toEqual(expect.any(String));
    expect(models[0]!.offers).toMatchObject([
      { provider: "bfl", upstream: "bfl-model", preferred: true, price: 0.01, per: "image", task: "image.generate" },
      { provider: "fal", upstream: "fal-model", preferred: false },
    ]);
  });

  it("prefers one offer for each task of a model, and never a retired one", () => {
    const edit = { task: "image.edit" as const, parameters: {} };
    const lifecycle = { state: "retired" as const, since: "2026-01-31", successor: "flux-2" };
    const { models } = setUp({ old: { lifecycle, preference: 1 }, own: { preference: 5 }, edits: edit }).read();
    expect(models[0]!.offers.map(({ provider, preferred }) => [provider, preferred])).toEqual([
      ["own", true],
      ["old", false],
      ["edits", true],
    ]);
    expect(models[0]!.offers[1]!.lifecycle).toEqual(lifecycle);
    expect(setUp({ old: { lifecycle } }).read().models[0]!.offers[0]!.preferred).toBe(false);
  });

  it("has no offer that the operator's file removed", () => {
    const lifecycle = { state: "retired" as const };
    const { models, tasks } = setUp({ fal: { lifecycle, isRemoved: true }, bfl: {} }).read();
    expect(models[0]!.offers.map(({ provider }) => provider)).toEqual(["bfl"]);
    expect(tasks).toHaveLength(1);
    expect(setUp({ fal: { lifecycle, isRemoved: true } }).read()).toEqual({ models: [], tasks: [] });
  });

  it("says what an offer does with each parameter, and names limits as gesso.yaml does", () => {
    const parameters = declareParameters("image.edit", {
      honours: ["prompt", "images", "aspect_ratio"],
      adapts: { seed: within({ least: 0, most: 9 }) },
      ignores: ["count"],
      excludes: ["mask"],
    });
    const limits = { sides: { least: 64, mostPixels: 1_000_000 }, ratios: ["1:1", "4:3"], count: 2, mask: false };
    const [offer] = setUp({ fal: { task: "image.edit", parameters, limits } }).read().models[0]!.offers;
    expect(offer!.limits).toEqual({ ...limits, sides: { least: 64, most_pixels: 1_000_000 } });
    expect(offer!.parameters).toEqual([
      { name: "prompt", state: "honoured" },
      { name: "images", state: "honoured" },
      { name: "mask", state: "excluded" },
      { name: "aspect_ratio", state: "adapted", how: "1:1, 4:3" },
      { name: "seed", state: "adapted", how: "0 to 9" },
      { name: "count", state: "unsupported" },
    ]);
  });

  it("says until when an offer that failed repeatedly gets no jobs", () => {
    const { providers, read } = setUp({ fal: {}, bfl: {} });
    providers.open.add("fal");
    const openUntil = read().models[0]!.offers.map(({ provider, open_until }) => [provider, open_until]);
    expect(Object.fromEntries(openUntil)).toEqual({ fal: "2026-11-16T00:00:07.000Z", bfl: null });
  });

  it("lists tasks with the operations that the credential may call", () => {
    const offers = { fal: {}, runway: { task: "video.generate" as const, model: "video-default", parameters: {} } };
    expect(setUp(offers).read().tasks).toEqual([
      { task: "image.generate", models: ["flux-dev"], operations: expect.arrayContaining(["images.generate"]) },
      { task: "video.generate", models: ["video-default"], operations: ["generateVideo", "videos.generate"] },
    ]);
    const operationsFor = (caller: Parameters<typeof buildCatalogue>[1]) =>
      setUp(offers, caller)
        .read()
        .tasks.map(({ operations }) => operations.length > 0);
    expect(operationsFor({ role: "developer", scopes: ["videos:write"] })).toEqual([false, true]);
    expect(operationsFor({ role: "viewer", scopes: ["*"] })).toEqual([false, false]);
  });

  it("has no setting of a provider", () => {
    const { providers } = setUp({ fal: {} });
    const secret = {
      ...providers,
      enabled: providers.enabled.map((each) => ({ ...each, env: { FAL_KEY: "hidden" } })),
    };
    expect(JSON.stringify(buildCatalogue({ providers: secret, clock }, OWNER))).not.toContain("hidden");
  });
});
