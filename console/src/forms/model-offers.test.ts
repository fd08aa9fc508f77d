import type { ModelCatalogue } from "@gesso/client";
import { expect, it } from "vitest";
import { findModelOffer, listModelNames } from "./model-offers.ts";

const offer = (provider: string, price: number, preferred: boolean, more: object = {}) => ({
  ...{ task: "image.generate", provider, price, preferred, per: "image" },
  ...{ name: `${provider}:x`, model_name: null, model_id: null, lifecycle: { state: "active" }, ...more },
});
const named = { model_name: "FLUX.1 [dev]", model_id: "flux.1-dev" };
const upscale = { task: "image.upscale" };
const catalogue = {
  models: [
    { model: "flux-dev", offers: [offer("bfl", 0.03, false, named), offer("fal", 0.025, true, named)] },
    { model: "seedream-5", offers: [offer("fal", 0.04, true)] },
    { model: "old", offers: [offer("fal", 0.04, true, { lifecycle: { state: "retired" } })] },
    { model: "upscale-default", offers: [offer("fal", 0.01, true, { ...upscale, model_id: "real-esrgan" })] },
  ],
  tasks: [
    { task: "image.generate", operations: ["images.generate"] },
    { task: "image.upscale", operations: ["images.upscale"] },
  ],
} as unknown as ModelCatalogue;

it("takes the price of the preferred offer and names all providers", () => {
  expect(findModelOffer(catalogue, "images.generate", "flux-dev")).toEqual({
    ...{ price: 0.025, per: "image", providers: ["bfl", "fal"], displayName: "FLUX.1 [dev]" },
  });
  expect(findModelOffer(catalogue, "images.generate", "flux.1-dev")?.providers).toEqual(["bfl", "fal"]);
  expect(findModelOffer(catalogue, "images.generate", "bfl:x")?.price).toBe(0.03);
  expect(findModelOffer(catalogue, "images.upscale", undefined)?.price).toBe(0.01);
  expect(findModelOffer(catalogue, "images.upscale", "flux-dev")).toBeUndefined();
  expect(findModelOffer(catalogue, "images.generate", "no-such-model")).toBeUndefined();
});

it("lists the names of the form, then those of the operator, then those of the models", () => {
  expect(listModelNames(catalogue, "images.generate", ["vendora", "flux-dev"])).toEqual([
    ...["vendora", "flux-dev", "seedream-5", "flux.1-dev"],
  ]);
  expect(listModelNames(catalogue, "images.upscale", [])).toEqual(["real-esrgan"]);
  expect(listModelNames(undefined, "images.generate", ["flux-dev"])).toEqual(["flux-dev"]);
});
