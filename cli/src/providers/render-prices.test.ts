import { expect, it } from "vitest";
import { renderPrices } from "./render-prices.ts";

const offer = (model: string, price: number | null, at_most = false, per = "image") => ({
  ...{ task: "image.generate", model, price, per, at_most },
});

it("has one line for each model, task and unit, with the range of its offers", () => {
  const offers = [
    offer("flux-dev", 0.035, false, "megapixel"),
    offer("flux-dev", 0.025, false, "megapixel"),
    offer("photon-1", 0.04),
    offer("photon-1", 0.04),
    offer("qwen", 0.098, true),
    offer("own", 0),
    offer("new", null),
  ];
  expect(renderPrices(offers, 80)).toEqual([
    "Models and prices:",
    "  flux-dev  image.generate  $0.025 to $0.035 per megapixel",
    "  photon-1  image.generate  $0.04 per image",
    "  qwen      image.generate  at most $0.098 per image",
    "  own       image.generate  free",
    "Other offers, at an unknown price:",
    "  new",
  ]);
});
