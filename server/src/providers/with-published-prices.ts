// The offers of a provider with their published prices.
import { publishedPrice } from "../prices/published.ts";
import type { Offer } from "./provider.ts";

/** An offer as an adapter declares it. Prices are in `prices/published.ts`, where all of them are kept up to date. */
export type OfferSpec = Omit<Offer, "price">;

export const withPublishedPrices = (provider: string, offers: readonly OfferSpec[]): Offer[] =>
  offers.map((offer) => ({ ...offer, price: publishedPrice(provider, offer.upstreamModel, offer.task) }));
