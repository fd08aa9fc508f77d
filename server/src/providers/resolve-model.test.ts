import { describe, expect, it } from "vitest";
import { providers } from "./all.ts";
import type { Offer, Provider } from "./provider.ts";
import { describeModels, findNameProblem, findOffers, listOffers } from "./resolve-model.ts";

const enable = (...ids: string[]) =>
  ids.map((id) => ({ provider: providers.find((provider) => provider.id === id)!, env: {} }));
const clouds = enable("bfl", "fal", "gemini", "openai", "replicate");
const pathsOf = (model: string, task: Offer["task"] = "image.generate", enabled = clouds) =>
  findOffers(enabled, { task, model }).map(
    ({ enabledProvider: { provider }, offer }) => `${provider.id}:${offer.upstreamModel}`,
  );

describe("a name means", () => {
  it("the offers of a name of the interface, the preferred one first", () => {
    expect(pathsOf("vendora")[0]).toBe("openai:gpt-image-2.5-flare");
    expect(pathsOf("vendora")).toContain("fal:fal-ai/gpt-image-1.5");
  });

  it("the offers of a model, by the name that people know or its ID", () => {
    const flare = [
      ...["openai:gpt-image-2.5-flare", "fal:openai/gpt-image-2.5/flare/text-to-image"],
      ...["fal:openai/gpt-image-2.5/flare/edit", "replicate:openai/gpt-image-2.5-flare"],
    ];
    expect(pathsOf("GPT Image 2.5 Flare")).toEqual(flare);
    expect(pathsOf("gpt-image-2.5-flare")).toEqual(flare);
    expect(pathsOf("Nano Banana 2.1")).toEqual([
      ...["gemini:gemini-nano-banana-2.1", "fal:google/nano-banana-2.1", "fal:google/nano-banana-2.1/edit"],
      "replicate:google/nano-banana-2.1",
    ]);
  });

  it("one path of one provider", () => {
    expect(pathsOf("fal:fal-ai/flux/dev")).toEqual(["fal:fal-ai/flux/dev"]);
    expect(pathsOf("replicate:google/nano-banana-2.1")).toEqual(["replicate:google/nano-banana-2.1"]);
  });

  it("what the operator added under it, before any other meaning", () => {
    const fal = clouds.find(({ provider }) => provider.id === "fal")!;
    const [offer] = fal.provider.offers;
    const added = { ...offer!, model: "gpt-image-1.5", upstreamModel: "fal-ai/other" };
    const provider: Provider = { ...fal.provider, offers: [...fal.provider.offers, added] };
    expect(pathsOf("gpt-image-1.5", offer!.task, [{ ...fal, provider }])).toEqual(["fal:fal-ai/other"]);
  });

  it("nothing else", () => {
    for (const name of ["flux", "fal:flux-dev", "fal-ai/flux/dev", ":", ""]) expect(pathsOf(name), name).toEqual([]);
  });
});

it("every offer can be named by its path, and by the ID of its model", () => {
  for (const { enabledProvider, offer } of listOffers(clouds)) {
    const path = `${enabledProvider.provider.id}:${offer.upstreamModel}`;
    expect(pathsOf(path, offer.task), path).toEqual([path]);
  }
});

describe("a name that means nothing here", () => {
  const problem = (model: string, task: Offer["task"] = "image.generate") =>
    findNameProblem(enable("fal", "gemini"), { task, model });

  it("is explained with the three nearest names", () => {
    expect(problem("flux-def")).toBe(
      "There is no model flux-def here. Nearest names: flux-dev, flux.1-dev, vendora. See catalogue.get.",
    );
    expect(problem("banana")).toContain("Nearest names: nanobanana, nano-banana-2.1");
    expect(problem("x".repeat(150))).toContain(`There is no model ${"x".repeat(80)}… here.`);
  });

  it("is explained if the model does something else", () => {
    expect(problem("nano-banana-2.1", "video.generate")).toMatch(
      /^nano-banana-2.1 does not do video.generate. Nearest names: /,
    );
  });

  it.each([
    ["fal:fal-ai/imagen4/preview", "2026-08-17", "fal:google/nano-banana-2.1"],
    ["imagen-4", "2026-08-17", "fal:google/nano-banana-2.1"],
    ["Nano Banana 2", "2026-10-29", "fal:google/nano-banana-2.1"],
  ])("is explained if the model %s has ended, with the day and the successor", (name, day, successor) => {
    expect(problem(name)).toBe(`${name} ended on ${day}. Use ${successor}.`);
    expect(pathsOf(successor)).toEqual([successor]);
  });

  it("is no mistake of the caller if the interface has the name and only its offers have ended", () => {
    const fal = providers.find(({ id }) => id === "fal")!;
    const offers = fal.offers.filter(({ upstreamModel }) => upstreamModel === "fal-ai/imagen4/preview");
    const enabled = [{ provider: { ...fal, offers }, env: {} }];
    expect(findNameProblem(enabled, { task: "image.generate", model: "vendorb-imagen4" })).toBeUndefined();
  });

  it("is no mistake of the caller if only a provider without a key has it", () => {
    expect(problem("openai:gpt-image-2.5-flare")).toBeUndefined();
    expect(problem("GPT Image 2.5 Flare")).toBeUndefined();
    expect(problem("vendorc")).toBeUndefined();
    expect(problem("edit-default", "image.edit")).toBeUndefined();
  });
});

describe("what a model uses", () => {
  it("is what any of its offers uses, without the retired ones", () => {
    const models = describeModels(enable("fal"));
    expect(models.uses("image.generate", "flux-dev", "images")).toBe(true);
    expect(models.mostImages("image.generate", "flux-dev")).toBe(1);
    expect(models.uses("image.generate", "fal:fal-ai/flux/dev", "images")).toBe(false);
    expect(models.mostImages("image.generate", "fal:fal-ai/flux/dev")).toBe(0);
    expect(models.does("image.edit", "flux-dev")).toBe(false);
  });

  it("is everything if no enabled provider has it, so that its fields are not what is complained about", () => {
    expect(describeModels([]).uses("image.generate", "flux-dev", "seed")).toBe(true);
  });
});
