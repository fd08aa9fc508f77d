import type { ModelCatalogue } from "@gesso/client";
import { expect, it } from "vitest";
import { findModelOffer } from "./model-offers.ts";

const offer = (provider: string, price: number, preferred: boolean) => ({
  ...{ task: "image.generate", provider, price, preferred, per: "image" },
});
const catalogue = {
  models: [{ model: "flux-dev", description: null, offers: [offer("bfl", 0.03, false), offer("fal", 0.025, true)] }],
  tasks: [{ task: "image.generate", models: ["flux-dev"], operations: ["images.generate"] }],
} as unknown as ModelCatalogue;

it("takes the price of the preferred offer and names all providers", () => {
  expect(findModelOffer(catalogue, "images.generate", "flux-dev")).toEqual({
    price: 0.025,
    per: "image",
    providers: ["bfl", "fal"],
  });
  expect(findModelOffer(catalogue, "images.upscale", "flux-dev")).toBeUndefined();
  expect(findModelOffer(catalogue, "images.generate", "no-such-model")).toBeUndefined();
});
