import { expect, it } from "vitest";
import { sumPrices } from "./price-sum.ts";

const priced = (amount: number | null, at_most = false) => ({ amount, at_most, basis: [] });

it("adds the prices of all models exactly", () => {
  expect(sumPrices([priced(0.1), priced(0.2)]).amount).toBe(0.3);
});

it("is unknown if one price is unknown or a request is not valid yet", () => {
  expect(sumPrices([priced(0.1), priced(null)]).amount).toBeNull();
  expect(sumPrices([priced(0.1), null]).amount).toBeNull();
});

it("is a bound if one price is", () => {
  expect(sumPrices([priced(0.1), priced(0.2)]).isBound).toBe(false);
  expect(sumPrices([priced(0.1), priced(0.2, true)]).isBound).toBe(true);
});

it("waits for all responses", () => {
  expect(sumPrices([priced(0.1), undefined]).amount).toBeUndefined();
});
